import { flushSync } from "react-dom";
import { createStore } from "../data/store.ts";

const paper = matchMedia("print");
const printing = createStore(paper.matches);

/** Whether the page is being printed. Scrollable lists must then show all rows. */
export const usePrinting = printing.use;

// Synchronous: the browser takes its snapshot as soon as the listener returns.
const createPrintSetter = (is: boolean) => () => flushSync(() => printing.set(is));
addEventListener("beforeprint", createPrintSetter(true));
addEventListener("afterprint", createPrintSetter(false));
paper.addEventListener("change", ({ matches }) => createPrintSetter(matches)());
