// @ts-check
/** A table as CSV (RFC 4180): CRLF, UTF-8, numbers whole. */

/** @typedef {import("../types").Table} Table */

/** A spreadsheet reads a word that begins so as a formula: an apostrophe before it says that it is text. */
const FORMULA = /^[=+\-@\t\r]/;

/** @param {Table} table @returns {string} */
export const csv = ({ columns, rows }) => [columns, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");

/** @param {string | number | boolean | null} value */
function field(value) {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
