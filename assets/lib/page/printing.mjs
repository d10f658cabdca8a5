// @ts-check
/** On paper: the stage alone, light, as large as one page lets it be. */

/** A landscape A4 page within its margins, px of CSS (96 an inch). */
const PAGE = { width: 1032, height: 700 };

/** @param {HTMLElement} stage @param {(light: boolean) => void} paint at once, in light colours or as chosen */
export function onPrint(stage, paint) {
  addEventListener("beforeprint", () => {
    const { width, height } = stage.getBoundingClientRect();
    const whole = Math.max(height, stage.scrollHeight);
    stage.style.setProperty("--print-width", `${width}px`);
    stage.style.setProperty("--print-height", `${whole}px`);
    stage.style.setProperty("--print-zoom", String(fit(width, whole)));
    paint(true);
  });
  addEventListener("afterprint", () => paint(false));
}

/** @param {number} width @param {number} height */
export const fit = (width, height) => Math.min(PAGE.width / width, PAGE.height / height, 1.4);
