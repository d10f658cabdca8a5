// @ts-check
/** Plotly, loaded when the first chart needs it; the server's own copy. */

import { msg } from "../language.mjs";

/** @type {Promise<any> | null} */
let loading = null;
let address = "";

/** @param {string} url */
export function plotlyAt(url) {
  address = url;
}

/** @returns {Promise<any>} window.Plotly */
export function plotly() {
  const page = /** @type {any} */ (window);
  if (page.Plotly) return Promise.resolve(page.Plotly);
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve(page.Plotly);
    script.onerror = () => {
      loading = null;
      script.remove();
      reject(new Error(msg`The charts' library could not be loaded from this server`));
    };
    document.head.append(script);
  });
  return loading;
}
