// @ts-check
/** Mean and variance of rows: of each row over its places (what LayerNorm divides by), of each place over the rows (what BatchNorm would). Pure. */

/** @param {number[]} values @returns {{mean: number, deviation: number}} of the whole (not of a sample) */
export function moments(values) {
  const n = values.length || 1;
  const mean = values.reduce((a, b) => a + b, 0) / n;
  return { mean, deviation: Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / n) };
}

/** A tensor `b n d` of one request as rows; rows that are not known are left out. @param {import("../types").Known | undefined} known @param {number} request
 * @returns {{row: number, values: number[]}[]} */
export function rowsOf(known, request) {
  if (!known || known.axes.length !== 3) return [];
  const b = Math.min(request, known.shape[0] - 1);
  const rows = Array.from({ length: known.shape[1] }, (_, row) => ({ row, values: Array.from({ length: known.shape[2] }, (_, i) => known.at(b, row, i)) }));
  return rows.filter((r) => r.values.every(Number.isFinite));
}

/** @param {{values: number[]}[]} rows @returns {{mean: number[], deviation: number[]}} by place */
export function byPlace(rows) {
  const all = (rows[0]?.values ?? []).map((_, i) => moments(rows.map((r) => r.values[i])));
  return { mean: all.map((m) => m.mean), deviation: all.map((m) => m.deviation) };
}
