"""Two ordinary ways to show the same eight maps of the same model, to compare with."""
