/** Measures the touch targets of a page on a phone. */
import type { Page } from "playwright-core";

/** Minimum sizes in CSS pixels: of main actions, and of all other targets (WCAG 2.5.8). */
const minimum = { main: 44, other: 24 };

/** The actions of a page, of a form and of problems, and the bar at the bottom. */
const mainActions = [
  ".page-actions > :is(a, button)",
  ".form-buttons > :is(a, button)",
  ".attention-actions .mantine-Button-root",
  ".held-buttons button",
  "button[data-variant=filled]",
  ".rail :is(a, button)",
].join();

/** Targets of the page that are too small, one line each. */
export const findSmallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(
    ([minimum, mainActions]) => {
      /** Size of the area that reacts, including a larger one of a pseudo-element. */
      function measure(element: Element) {
        const field = element.matches("input") ? element.closest(".mantine-Input-wrapper") : null;
        const labels = element instanceof HTMLInputElement ? (element.labels ?? []) : [];
        const sizes: { width: number; height: number }[] = [field ?? element, ...labels].map(
          (target) => target.getBoundingClientRect(),
        );
        for (const pseudo of ["::before", "::after"]) {
          const style = getComputedStyle(element, pseudo);
          if (style.content === "none" || style.position !== "absolute") continue;
          sizes.push({
            width: Number.parseFloat(style.width),
            height: Number.parseFloat(style.height),
          });
        }
        return {
          width: Math.max(...sizes.map((size) => size.width || 0)),
          height: Math.max(...sizes.map((size) => size.height || 0)),
        };
      }
      /** Links within a sentence are as high as its lines. */
      const isInText = (element: Element) =>
        element.matches("a, button") &&
        getComputedStyle(element).display === "inline" &&
        element.parentElement?.textContent !== element.textContent;
      const targets = document.querySelectorAll(
        "a[href], button, input:not([type=hidden]), textarea, summary, [role=tab], [role=option]",
      );
      return [...targets].flatMap((element) => {
        const isShown = element.checkVisibility({
          opacityProperty: true,
          visibilityProperty: true,
        });
        if (!isShown || element.matches(".skip, .visually-hidden, [tabindex='-1']:not(button)"))
          return [];
        const { width, height } = measure(element);
        const minimumSize = element.matches(mainActions) ? minimum.main : minimum.other;
        // Layout rounds to fractions of a pixel.
        if (Math.min(width, height) >= minimumSize - 0.5 || isInText(element)) return [];
        const name = element.getAttribute("aria-label") ?? element.textContent;
        return [
          `${element.tagName.toLowerCase()}.${element.className} “${name.slice(0, 40)}” is ${Math.round(width)} × ${Math.round(height)} px, below ${minimumSize} px`,
        ];
      });
    },
    [minimum, mainActions] as const,
  );
