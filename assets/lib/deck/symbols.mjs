// @ts-check
/** The paper's letters on the operations of a step that read inside a loop: which state asks, and what each makes. Pure. */

/** @typedef {import("../types").World} World */

/** By the schema of a run and its operations. @type {WeakMap<any, {asked: string, found: string[] | null}>} */
const known = new WeakMap();

/** Of each operation one `math` element, "s_{t-1} → c_t"; null where no state of a row asks: formulas of whole matrices say nothing of
 * their order.
 * @param {World} world @param {string[]} scopes in their order @returns {string[] | null} */
export function symbols(world, scopes) {
  const { schema } = world;
  if (!world.opened?.relations?.length || !schema?.formulas) return null;
  const asked = scopes.join();
  const before = known.get(schema);
  if (before?.asked === asked) return before.found;
  const all = scopes.map((scope) => schema.taps.filter((/** @type {any} */ t) => t.path === scope || t.path.slice(0, t.path.lastIndexOf(".")) === scope).map((/** @type {any} */ t) => schema.formulas[t.formula ?? -1]?.mathml ?? ""));
  const found = all.some((own) => own.some(asker)) ? all.map(line) : null;
  known.set(schema, { asked, found });
  return found;
}

/** @param {string[]} formulas of one operation, in their order @returns {string} */
function line(formulas) {
  const [asks, makes] = [formulas.map(asker).find(Boolean), formulas.map(made).findLast(Boolean)];
  return makes ? `<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>${asks ? `<mrow class="query">${asks}</mrow><mo>→</mo>` : ""}${makes}</mrow></math>` : "";
}

/** The state of a row that is the query of a formula. @param {string} mathml */
const asker = (mathml) => mathml.match(/<mrow class="query">(<msub>.*?<\/msub>)<\/mrow>/)?.[1] ?? "";

/** What a formula gives to row t. @param {string} mathml */
const made = (mathml) => mathml.match(/^<math[^>]*><mrow>(<ms(?:ub|ubsup)>(?:(?!<mo>=<\/mo>|class=).)*<mi>t<\/mi>(?:(?!<mo>=<\/mo>|<mi>).)*<\/ms(?:ub|ubsup)>)<mo>=<\/mo>/)?.[1] ?? "";
