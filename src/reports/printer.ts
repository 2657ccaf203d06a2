/** Prints documents as PDF with the installed Chromium, one at a time and without network. */
import { createFairQueue } from "../core/collections/fair-queue.ts";
import { reportBounds } from "../core/limits.ts";
import type { Page } from "../monitoring/checks/protocols/chromium.ts";

const loadChromium = () => import("../monitoring/checks/protocols/chromium.ts");

type Pdf = Uint8Array<ArrayBuffer>;

export class ReportPrinter {
  readonly #program: string | null | undefined;
  readonly #turns = createFairQueue({
    atOnce: 1,
    mostWaiting: reportBounds.waitingPrints.value,
  });
  /** The last documents with their PDFs: recipients of one report share one. */
  readonly #recent = new Map<string, Promise<Pdf>>();

  /** `program` is the path of Chromium, or null for none. Defaults to the installed one. */
  constructor(program: string | null | undefined) {
    this.#program = program;
  }

  /** Returns the path of Chromium; null if there is none. */
  async findProgram(): Promise<string | null> {
    return this.#program === undefined ? (await loadChromium()).findBrowser() : this.#program;
  }

  /** Prints an HTML document as PDF. Throws LocalFailure, TargetFailure, RATE_LIMITED. */
  print(organizationId: string, program: string, html: string): Promise<Pdf> {
    const key = `${organizationId} ${html}`;
    const known = this.#recent.get(key);
    if (known !== undefined) return known;
    const printing = this.#turns.run(organizationId, () => printDocument(program, html));
    this.#recent.set(key, printing);
    printing.catch(() => this.#recent.delete(key));
    for (const [oldest] of this.#recent)
      if (this.#recent.size > reportBounds.cachedPrints.value) this.#recent.delete(oldest);
    return printing;
  }
}

async function printDocument(program: string, html: string): Promise<Pdf> {
  const { usePage } = await loadChromium();
  const signal = AbortSignal.timeout(reportBounds.printing.value * 1_000);
  return usePage(program, null, { signal, authorities: null }, (page) => printPage(page, html));
}

/** https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-printToPDF */
async function printPage(page: Page, html: string): Promise<Pdf> {
  await page.sendCommand("Emulation.setScriptExecutionDisabled", { value: true });
  const { frameTree } = await page.sendCommand<{ frameTree: { frame: { id: string } } }>(
    "Page.getFrameTree",
  );
  await page.sendCommand("Page.setDocumentContent", { frameId: frameTree.frame.id, html });
  const { data } = await page.sendCommand<{ data: string }>("Page.printToPDF", {
    preferCSSPageSize: true,
    printBackground: true,
    displayHeaderFooter: true,
    headerTemplate: "<span></span>",
    footerTemplate: `<div style="width:100%;font-size:8px;text-align:center"><span class="pageNumber"></span> / <span class="totalPages"></span></div>`,
  });
  return Uint8Array.fromBase64(data);
}
