/** The browser check: loads a page in Chromium, performs steps, and searches the page for a text. */
import { LocalFailure, TargetFailure } from "../../../core/outgoing/failures.ts";
import { formatStatus } from "../../../core/outgoing/http/response.ts";
import { JudgingProxy } from "../../../core/outgoing/judging-proxy.ts";
import { explainErrorCode } from "../../../core/outgoing/failure-reasons.ts";
import { portOf } from "../../../core/security/target-guard.ts";
import type { DetailsOf } from "../../monitors/details-rules.ts";
import type { MonitorSettings } from "../../monitors/kinds-schema.ts";
import { type CheckContext, type CheckKind, type CheckResult, measureElapsedMs } from "../check.ts";
import { type Page, usePage } from "../protocols/chromium.ts";

type Settings = MonitorSettings<"browser">;

const maxBytes = 64 * 1024 * 1024;
const maxTitleLength = 500;
/** Poll interval while waiting for a page to satisfy a condition. */
const pollMs = 100;
/** Share of the timeout after which a wait ends, so that the check can still report the reason. */
const waitShare = 0.9;
/** Share of the timeout by which the screenshot of a failed page must be complete. */
const screenshotPart = 0.97;
const maxScreenshotMs = 2_000;
const maxScreenshotBytes = 192 * 1024;
/** JPEG qualities in order. A screenshot that is too large is repeated with the next one. */
const jpegQualities = [60, 20, 5];

/** Up when the page loads and all steps succeed. All connections of the page use a proxy that checks each address. */
export const checkBrowser: CheckKind<"browser"> = async (settings, context) => {
  const checkStartedAt = performance.now();
  const url = new URL(settings.url);
  context.step = "resolving the name";
  await context.addressesOf(url.hostname, portOf(url));
  const browser = context.browser();
  if (browser === null) throw new LocalFailure("there is no Chromium here (see --browser)");
  context.step = "waiting for the browser";
  return context.runWithBrowser(async () => {
    if (context.signal.aborted) throw new LocalFailure("the check was stopped");
    context.step = "starting the browser";
    const proxy = await JudgingProxy.start(context, maxBytes);
    let failure: TargetFailure | null = null;
    try {
      return await usePage(browser, proxy.port, context, async (page) => {
        try {
          return await new PageVisit({ page, settings, context, proxy, checkStartedAt }).run();
        } catch (error) {
          if (!(error instanceof TargetFailure)) throw error;
          failure = error;
          const endsAt = checkStartedAt + context.timeoutMs * screenshotPart;
          const leftMs = Math.min(endsAt - performance.now(), maxScreenshotMs);
          context.screenshot = await takeScreenshot(page, leftMs);
          throw error;
        }
      });
    } catch (error) {
      // An error during the screenshot must not replace the failure of the check.
      throw failure ?? error;
    } finally {
      proxy.close();
    }
  });
};

type Visit = {
  page: Page;
  settings: Settings;
  context: CheckContext;
  proxy: JudgingProxy;
  /** Start of the check, by performance.now(). */
  checkStartedAt: number;
};

/** Loads the page, performs the steps, and searches for the keyword. */
class PageVisit {
  private readonly visit: Visit;
  private readonly startedAt = performance.now();
  private readonly giveUpAt: number;

  constructor(visit: Visit) {
    this.visit = visit;
    this.giveUpAt = visit.checkStartedAt + visit.context.timeoutMs * waitShare;
  }

  async run(): Promise<CheckResult<DetailsOf<"browser">>> {
    const { page, settings, context } = this.visit;
    await this.load();
    const loadMs = measureElapsedMs(this.startedAt);
    for (const [index, step] of settings.steps.entries()) {
      context.part = `Step ${index + 1}`;
      context.step = "waiting for the page";
      await this.perform(step);
    }
    context.part = null;
    if (settings.keyword !== null) await this.expectText(settings.keyword);
    const latencyMs = measureElapsedMs(this.startedAt);
    const title = await evaluateExpression(page, `document.title.slice(0, ${maxTitleLength})`);
    const details = { title: typeof title === "string" ? title : null, loadMs };
    const { length } = settings.steps;
    const steps =
      length === 0 ? "" : ` and ${length === 1 ? "1 step was" : `${length} steps were`} done`;
    const message = `The page was loaded${steps} in ${latencyMs} ms.`;
    return { status: "up", message, latencyMs, details };
  }

  private async load() {
    const { page, settings, context } = this.visit;
    context.step = "loading the page";
    if (!settings.verifyTls)
      await page.sendCommand("Security.setIgnoreCertificateErrors", { ignore: true });
    const loaded = page.waitForEvent("Page.loadEventFired");
    const navigation = page.sendCommand<{ errorText?: string }>("Page.navigate", {
      url: settings.url,
    });
    const { errorText } = await this.runInTime(navigation);
    if (errorText !== undefined) throw await this.explainLoadFailure(errorText);
    await this.runInTime(loaded);
    const status = await evaluateExpression(
      page,
      "performance.getEntriesByType('navigation')[0]?.responseStatus",
    );
    if (typeof status === "number" && status >= 400)
      throw new TargetFailure(`${formatStatus(status)}, expected less than 400.`);
  }

  private async perform(step: string) {
    const { page } = this.visit;
    const [, action, rest = ""] = /^(\w+) (.*)$/s.exec(step) ?? [];
    if (action === "expect") return this.expectText(rest);
    const [selector = "", ...values] = action === "fill" ? rest.split(" with ") : [rest];
    const visible = `(() => { const found = document.querySelector(${JSON.stringify(selector)}); return found !== null && found.getClientRects().length > 0; })()`;
    await this.waitUntil(visible, "Nothing visible matches its selector.");
    if (action === "click")
      await evaluateExpression(page, `document.querySelector(${JSON.stringify(selector)}).click()`);
    if (action === "fill") await this.fill(selector, values.join(" with "));
  }

  private async fill(selector: string, value: string) {
    const { page, settings } = this.visit;
    const isSecret = /\{\{\s*password\s*\}\}/.test(value);
    const isPassword = `(() => { const found = document.querySelector(${JSON.stringify(selector)}); found.focus(); found.select?.(); return found.type === "password"; })()`;
    const isHidden = await evaluateExpression(page, isPassword);
    // Enters the password only on the monitor's origin, and only in a password field.
    if (isSecret) {
      const { frame } = await readFrame(page);
      if (frame.securityOrigin !== new URL(settings.url).origin)
        throw new TargetFailure("The page is on another origin, so the password is not entered.");
      if (isHidden !== true)
        throw new TargetFailure(
          "The field is not a password field, so the password is not entered.",
        );
    }
    const text = value.replaceAll(/\{\{\s*(username|password)\s*\}\}/g, (_, name: string) =>
      String(settings[name as "username" | "password"] ?? ""),
    );
    await page.sendCommand("Input.insertText", { text });
  }

  private expectText(text: string) {
    const isShown = `document.body?.innerText.includes(${JSON.stringify(text)}) === true`;
    return this.waitUntil(isShown, "The page does not contain the text.");
  }

  private async waitUntil(expression: string, otherwise: string) {
    while ((await evaluateExpression(this.visit.page, expression)) !== true) {
      if (performance.now() > this.giveUpAt) throw await this.explainTimeout(otherwise);
      await Bun.sleep(pollMs);
    }
  }

  private async explainLoadFailure(errorText: string): Promise<Error> {
    let found = await this.findProxyFailure();
    // The error page of Chromium can load with a short delay.
    for (let polls = 0; found === null && errorText.includes("SOCKS") && polls < 20; polls++) {
      await Bun.sleep(pollMs);
      found = await this.findProxyFailure();
    }
    return found ?? new TargetFailure(explainChromiumError(errorText));
  }

  /** Returns the error of the proxy's connection to the host of the page; null without an error. */
  private async findProxyFailure(): Promise<Error | null> {
    const { page, settings, proxy } = this.visit;
    // Chromium does not respond while it waits for the next page.
    const found = await Promise.race([readFrame(page), Bun.sleep(5 * pollMs)]);
    const url = URL.parse(found?.frame.unreachableUrl ?? "") ?? new URL(settings.url);
    return proxy.failureOf(url.hostname, portOf(url));
  }

  private async runInTime<T>(work: Promise<T>): Promise<T> {
    const { context } = this.visit;
    const deadline = Promise.withResolvers<never>();
    const formatTimeout = () =>
      `Timed out after ${context.timeoutMs / 1000} s while ${context.step}.`;
    const timer = setTimeout(
      () => this.explainTimeout(formatTimeout()).then(deadline.reject, deadline.reject),
      Math.max(0, this.giveUpAt - performance.now()),
    );
    try {
      return await Promise.race([work, deadline.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Finds the cause of a timeout: a blocked connection, a busy browser, or the page. */
  private async explainTimeout(otherwise: string): Promise<Error> {
    const found = await this.findProxyFailure();
    if (found !== null) return found;
    const { checkStartedAt, context } = this.visit;
    return this.startedAt - checkStartedAt > context.timeoutMs / 2
      ? new LocalFailure("the browser was busy for too long")
      : new TargetFailure(otherwise);
  }
}

/** Takes a JPEG screenshot of the page. Null if it fails, takes too long, or stays too large. */
async function takeScreenshot(page: Page, leftMs: number): Promise<Uint8Array | null> {
  const ended = Promise.withResolvers<null>();
  const timer = setTimeout(() => ended.resolve(null), leftMs);
  async function captureWithinLimit(): Promise<Uint8Array | null> {
    for (const quality of jpegQualities) {
      const { data } = await page.sendCommand<{ data: string }>("Page.captureScreenshot", {
        format: "jpeg",
        quality,
        optimizeForSpeed: true,
      });
      const image = Uint8Array.fromBase64(data);
      if (image.length <= maxScreenshotBytes) return image;
    }
    return null;
  }
  try {
    return await Promise.race([captureWithinLimit().catch(() => null), ended.promise]);
  } finally {
    clearTimeout(timer);
  }
}

type Frame = { frame: { securityOrigin: string; unreachableUrl?: string } };

const readFrame = async (page: Page) =>
  (await page.sendCommand<{ frameTree: Frame }>("Page.getFrameTree")).frameTree;

/** Evaluates an expression in the page. Returns undefined while the page changes to another document. */
async function evaluateExpression(page: Page, expression: string): Promise<unknown> {
  try {
    const { result, exceptionDetails } = await page.sendCommand<{
      result?: { value?: unknown };
      exceptionDetails?: { exception?: { className?: string } };
    }>("Runtime.evaluate", { expression, returnByValue: true, userGesture: true });
    if (exceptionDetails?.exception?.className === "DOMException")
      throw new TargetFailure("Its selector is not valid CSS.");
    return result?.value;
  } catch (error) {
    if (error instanceof TargetFailure && error.message.startsWith("The page can't be inspected"))
      return;
    throw error;
  }
}

/** Translates the name of a Chromium error into a sentence. */
function explainChromiumError(errorText: string): string {
  const known: Record<string, string> = {
    ERR_CERT_AUTHORITY_INVALID: "The certificate was issued by an authority that is not trusted.",
    ERR_CERT_COMMON_NAME_INVALID: "The certificate is for another name.",
    ERR_CERT_DATE_INVALID: explainErrorCode("CERT_HAS_EXPIRED") ?? "The certificate is not valid.",
    ERR_EMPTY_RESPONSE: "The connection was closed before the response was complete.",
    ERR_TOO_MANY_REDIRECTS: "Too many redirects.",
    ERR_SSL_PROTOCOL_ERROR: "No TLS connection could be established.",
    ERR_ABORTED: "The address leads to no page.",
  };
  const name = errorText.replace(/^net::/, "");
  return known[name] ?? "The page can't be loaded.";
}
