import { flushSync } from "react-dom";
import { createStore } from "../data/store.ts";

const paper = matchMedia("print");
const printing = createStore(paper.matches);

/** Whether the page is on paper, where nobody scrolls. */
export const usePrinting = printing.use;

// What is printed is what stands there when this returns.
const set = (is: boolean) => () => flushSync(() => printing.set(is));
addEventListener("beforeprint", set(true));
addEventListener("afterprint", set(false));
paper.addEventListener("change", ({ matches }) => set(matches)());
