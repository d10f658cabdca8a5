import assert from "node:assert/strict";
import test from "node:test";

import { sentences } from "../../../assets/lib/page/sentences.mjs";

const say = sentences({
  "at most {0} tokens": "au plus {0} jetons",
  "{0} was given {1}; allowed: {2}": "{0} a reçu {1} ; permis : {2}",
  "{0} has {1} rows, {2} was given": "{2} a été donné, {0} a {1} lignes",
  "Stopped, because a check fails: {0}.": "Arrêt, car une vérification échoue : {0}.",
  "all finite": "tout est fini",
  "row {0} would now be “{1}”": "la ligne {0} serait maintenant « {1} »",
  "row": "ligne",
  "masks": "masques",
  "learning rate {0}": "taux d’apprentissage {0}",
  "{0}: {1}": "{0} : {1}",
  "Any {0} (*)": "Tout {0} (*)",
});

test("a sentence is filled again with what was put in, its parts translated in their turn", () => {
  assert.equal(say("x was given 'abc'; allowed: at most 12 tokens"), "x a reçu 'abc' ; permis : au plus 12 jetons");
  assert.equal(say("Stopped, because a check fails: all finite."), "Arrêt, car une vérification échoue : tout est fini.");
  assert.equal(say("s has 4 rows, 9 was given"), "9 a été donné, s a 4 lignes", "in the order of the language");
});

test("what was quoted is somebody's own words", () => {
  assert.equal(say("row 3 would now be “row”"), "la ligne 3 serait maintenant « row »");
});

test("a list is translated part by part", () => {
  assert.equal(say("learning rate 0.01, masks"), "taux d’apprentissage 0.01, masques");
  assert.equal(say("row 1 would now be “a”, row 2 would now be “row”"), "la ligne 1 serait maintenant « a », la ligne 2 serait maintenant « row »");
  assert.equal(say("masks, x"), "masks, x", "one part unknown: none is touched");
});

test("what is not known stays, and signs in a key mean themselves", () => {
  assert.equal(say("Nothing of this: is known"), "Nothing of this: is known");
  assert.equal(say("Any b (*)"), "Tout b (*)");
  assert.equal(say("constructor"), "constructor");
  assert.equal(say(""), "");
  assert.equal(sentences({})("row"), "row");
});
