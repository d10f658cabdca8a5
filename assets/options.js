/* How Mantine draws an example in the scenario picker (app/ui/controls.py): its name, and what to look at. Mantine looks for it by name
   when the page is first drawn, which may be before the modules have come. */
window.dashMantineFunctions = Object.assign(window.dashMantineFunctions ?? {}, {
  example({ option }) {
    const { createElement: h } = window.React;
    return h("span", { className: "example" }, h("b", null, option.name), h("span", { className: "note" }, option.note));
  },
});
