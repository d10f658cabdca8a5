import assert from "node:assert/strict";
import test from "node:test";

import { symbols } from "../../../assets/lib/deck/symbols.mjs";

const math = (inner) => `<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>${inner}</mrow></math>`;
const sub = (letter, index) => `<msub><mi>${letter}</mi>${index}</msub>`;
const T = "<mi>t</mi>";
const BEFORE = "<mrow><mi>t</mi><mo>−</mo><mn>1</mn></mrow>";
const is = (left, right) => ({ mathml: math(`${left}<mo>=</mo>${right}`) });
const query = (inner) => `<mrow class="query">${inner}</mrow>`;
const world = (formulas, paths, relations = [{}]) => ({ opened: { relations }, schema: { formulas, taps: paths.map((path, formula) => ({ path, formula })) } });

test("an operation says which state asks and what it makes", () => {
  const formulas = [is(sub("e", "<mrow><mi>t</mi><mi>s</mi></mrow>"), query(sub("s", BEFORE))), is(sub("c", T), "<mi>h</mi>"), is(sub("s", T), sub("c", T)), is("<mi>A</mi>", "<mi>e</mi>")];
  const paths = ["decoder.cross.scores", "decoder.cross.context", "decoder.layer0.hidden", "other.weights"];
  const found = symbols(world(formulas, paths), ["decoder.cross", "decoder.layer0", "other", "logits"]);
  assert.deepEqual(found, [math(`${query(sub("s", BEFORE))}<mo>→</mo>${sub("c", T)}`), math(sub("s", T)), "", ""]);
});

test("where no state of a row asks there are none", () => {
  const whole = [is("<mi>S</mi>", query("<mi>Q</mi>")), is(sub("h", T), "<mi>x</mi>")];
  assert.equal(symbols(world(whole, ["layer0.self.scores", "layer0.ffn.hidden"]), ["layer0.self", "layer0.ffn"]), null);
  assert.equal(symbols(world([is(query(sub("s", T)), sub("h", T))], ["layer0.read"], []), ["layer0"]), null);
});
