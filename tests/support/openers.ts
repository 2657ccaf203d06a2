import type { Page } from "playwright-core";

// What lies on a page and can open something. The functions that Chromium runs stand alone.

/** What lies over the page. */
const layers = "[role=dialog], [role=menu], [role=listbox], .pop";

/** On what lies on top, once `layerOf` has looked. */
export const topLayer = "data-top-layer";

/** An element that may open something; alike in each row of a list, so that one of them stands for all. */
export type Opener = { key: string; label: string };

/** Marks what can be clicked in the topmost layer, or in the page without one, and lists it. */
export const openersOf = (page: Page): Promise<Opener[]> =>
  page.evaluate((layers) => {
    const isSeen = (element: Element) =>
      element.checkVisibility({ visibilityProperty: true, opacityProperty: false }) &&
      element.getBoundingClientRect().width > 0;
    const top = [...document.querySelectorAll(layers)].filter(isSeen).at(-1);
    const found = new Map<string, Opener>();
    for (const old of document.querySelectorAll("[data-opener]"))
      old.removeAttribute("data-opener");
    const wanted =
      "button, summary, [role=button], [role=combobox], [role=tab], [role=menuitem], [role=option], [aria-haspopup], .bars[tabindex], input[type=checkbox], input[type=radio]";
    for (const element of (top ?? document).querySelectorAll(wanted)) {
      const target = element.matches("input") ? (element.closest("label") ?? element) : element;
      if (!isSeen(target) || element.matches(":disabled, [aria-disabled=true], a")) continue;
      // Choices of one list are alike.
      if (element.matches("[role=option]") && !element.closest(".palette")) continue;
      const label = (
        element.getAttribute("aria-label") ??
        (element as HTMLElement).innerText ??
        ""
      ).trim();
      const row = element.closest("li, tr, [role=row], [data-item], .row, [role=option]");
      const path: string[] = [];
      for (let at: Element | null = element; at !== null && path.length < 4; at = at.parentElement)
        path.push(
          `${at.tagName}.${[...at.classList].filter((name) => !/^mantine-|active|selected|open/.test(name)).join(".")}`,
        );
      const name = row === null ? label.replaceAll(/\d+/g, "#").slice(0, 40) : label.split(/\s/)[0];
      const where = element.closest("main") ? location.pathname.split("/")[1] : top ? "over" : "";
      const key = `${where} ${path.join("<")} ${name}`;
      if (found.has(key)) continue;
      found.set(key, { key, label });
      target.setAttribute("data-opener", key);
    }
    return [...found.values()];
  }, layers);

/** What lies on top: its role and what it is called; null for nothing. */
export const layerOf = (page: Page): Promise<string | null> =>
  page.evaluate(
    ([layers, topLayer]) => {
      for (const old of document.querySelectorAll(`[${topLayer}]`)) old.removeAttribute(topLayer);
      const top = [...document.querySelectorAll(layers)]
        .filter((element) => element.checkVisibility() && element.getBoundingClientRect().width > 0)
        .at(-1);
      if (top === undefined) return null;
      top.setAttribute(topLayer, "");
      const titled = top.getAttribute("aria-labelledby");
      const title =
        (titled && document.getElementById(titled)?.textContent) ||
        top.getAttribute("aria-label") ||
        top.querySelector("h2, h3")?.textContent ||
        [...top.querySelectorAll("[role=menuitem]")].map((one) => one.textContent).join(", ");
      return `${top.getAttribute("role") ?? "popover"} ${title}`.replaceAll(/\s+/g, " ");
    },
    [layers, topLayer] as const,
  );

/** Where texts are cut, covered or nonsense, and what lies outside of the window. */
export const flawsOfTexts = (page: Page): Promise<string[]> =>
  page.evaluate((layers) => {
    const isSeen = (element: Element) => element.checkVisibility({ visibilityProperty: true });
    const top = [...document.querySelectorAll(layers)].filter(isSeen).at(-1);
    const flaws: string[] = [];
    const shortOf = (element: Element) =>
      `<${element.tagName.toLowerCase()} class="${element.className}"> ${element.textContent?.trim().slice(0, 60)}`;
    const text = (top ?? document.body) as HTMLElement;
    const nonsense = /\b(undefined|NaN|Infinity|Invalid Date)\b|\[object /.exec(text.innerText);
    if (nonsense) flaws.push(`says ${nonsense[0]}`);
    const isScrolledAway = (element: Element, x: number, y: number) => {
      for (let box = element.parentElement; box !== null; box = box.parentElement) {
        if (getComputedStyle(box).overflow === "visible") continue;
        const { top, bottom, left, right } = box.getBoundingClientRect();
        if (y < top || y > bottom || x < left || x > right) return true;
      }
      return false;
    };
    const box = top?.getBoundingClientRect();
    if (box && (box.left < -1 || box.right > innerWidth + 1))
      flaws.push(`${top?.getAttribute("role")} beside the window: ${box.left}–${box.right}`);
    if (box && top?.matches("[role=menu], [role=listbox], .pop"))
      if (box.top < -1 || box.bottom > innerHeight + 1)
        flaws.push(`${top.getAttribute("role")} outside the window: ${box.top}–${box.bottom}`);
    for (const element of (top ?? document.body).querySelectorAll("*")) {
      const hasText = [...element.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
      );
      if (!hasText || !isSeen(element) || element.closest("svg, [aria-hidden=true], .sr-only"))
        continue;
      const style = getComputedStyle(element);
      const rect = element.getBoundingClientRect();
      if (rect.width <= 1 || rect.height <= 1 || style.clipPath !== "none") continue;
      const isCut = element.scrollWidth > element.clientWidth + 1 && style.display !== "inline";
      if (isCut && ["hidden", "clip"].includes(style.overflowX)) {
        // What names a whole list does not tell the rest of one name in it.
        const told = element.closest("[title]") ?? element.closest("a, button, [role=img]");
        if (style.textOverflow !== "ellipsis") flaws.push(`cut: ${shortOf(element)}`);
        else if (!told?.matches("[title], [aria-label]"))
          flaws.push(`cut without its full text: ${shortOf(element)}`);
      } else if (isCut && style.overflowX === "visible")
        flaws.push(`overflows: ${shortOf(element)}`);
      // Of words that wrap, the first line: between its ends there may be others.
      const line = element.getClientRects()[0] ?? rect;
      const [x, y] = [line.left + line.width / 2, line.top + line.height / 2];
      if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) continue;
      if (isScrolledAway(element, x, y)) continue;
      const hit = document.elementFromPoint(x, y);
      if (hit === null || element.contains(hit) || hit.contains(element)) continue;
      // A field may lie over its own label.
      if (hit.matches("input") && hit.parentElement?.contains(element)) continue;
      let above: Element | null = hit;
      while (above && !["fixed", "sticky"].includes(getComputedStyle(above).position))
        above = above.parentElement;
      // A row's own link lies over the whole row.
      if (above === null && hit.tagName !== "A" && style.pointerEvents !== "none")
        flaws.push(`covered by ${shortOf(hit)}: ${shortOf(element)}`);
    }
    return [...new Set(flaws)];
  }, layers);

/** Types into each field in sight as fast as keys can come; what did not arrive. */
export async function lostKeys(page: Page, scope: string) {
  const fields = page.locator(
    `${scope} :is(textarea, input:not([type]), input[type=text], input[type=search]):not([readonly], :disabled, [inputmode=numeric], [role=combobox])`,
  );
  const lost: string[] = [];
  const all = await fields.all();
  for (const field of all) {
    if (!(await field.isVisible())) continue;
    const text = "Größe 12 Ω";
    await field.fill("");
    await field.pressSequentially(text);
    const has = await field.inputValue().catch(() => "(gone)");
    const label = await field.evaluate((one) => one.getAttribute("aria-label") ?? one.id);
    // Fields of numbers keep the number.
    if (has !== text && !/^12\b/.test(has)) lost.push(`typed ${text} into ${label}: ${has}`);
    await field.fill("").catch(() => {});
  }
  return { fields: all.length, lost };
}
