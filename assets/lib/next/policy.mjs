// @ts-check
/** How a decision is made from logits, as app/session/policy.py has it: so that another policy can be shown without asking. Pure. */

/** @typedef {{kind: "greedy" | "sample" | "beam", width: number, length_penalty: number, temperature: number, top_k: number | null, top_p: number, limit: number, execution: string}} Policy */

/** Probabilities under the temperature, before any cut.
 * @param {ArrayLike<number>} logits @param {number} temperature */
export function tempered(logits, temperature) {
  const out = Float64Array.from(logits, (x) => x / temperature);
  const top = out.reduce((a, b) => Math.max(a, b), -Infinity);
  let sum = 0;
  for (let i = 0; i < out.length; i++) sum += out[i] = Math.exp(out[i] - top);
  return out.map((x) => x / sum);
}

/** After top-k and top-p, divided by what is left; what is cut off is 0. Greedy keeps the largest alone, as a beam does for each hypothesis.
 * @param {Float64Array} probabilities @param {Policy} policy */
export function cut(probabilities, policy) {
  const order = ranked(probabilities);
  const kept = policy.kind !== "sample" ? order.slice(0, 1) : within(probabilities, order, policy);
  const sum = kept.reduce((a, i) => a + probabilities[i], 0);
  const out = new Float64Array(probabilities.length);
  for (const i of kept) out[i] = probabilities[i] / sum;
  return out;
}

/** The smallest set of largest tokens whose sum reaches top-p, at most top-k of them.
 * @param {Float64Array} probabilities @param {number[]} order @param {Policy} policy */
function within(probabilities, order, { top_k, top_p }) {
  let before = 0;
  const inside = order.filter((id, rank) => {
    const keep = rank === 0 || top_p === 1 || before < top_p;
    before += probabilities[id];
    return keep;
  });
  return inside.slice(0, top_k ?? inside.length);
}

/** Ids, the most probable first; of equal ones the smaller id.
 * @param {ArrayLike<number>} numbers */
export const ranked = (numbers) => Array.from(numbers, (_, i) => i).sort((a, b) => numbers[b] - numbers[a] || a - b);

/** KL divergence of p from q: sum p log(p / q) in nats, both under the temperature.
 * @param {ArrayLike<number>} edited logits @param {ArrayLike<number>} plain logits @param {number} temperature */
export function divergence(edited, plain, temperature) {
  const [p, q] = [tempered(edited, temperature), tempered(plain, temperature)];
  return Math.max(0, p.reduce((sum, x, i) => (x > 0 ? sum + x * Math.log(x / q[i]) : sum), 0));
}
