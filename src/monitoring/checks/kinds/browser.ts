import { OwnTrouble, TargetFailure } from "../../../core/outgoing/failures.ts";
import { named } from "../../../core/outgoing/http/response.ts";
import { JudgingProxy } from "../../../core/outgoing/judging-proxy.ts";
import { reasonOf } from "../../../core/outgoing/reasons.ts";
import { portOf } from "../../../core/security/target-guard.ts";
import type { DetailsOf } from "../../monitors/details-rules.ts";
import type { MonitorSettings } from "../../monitors/kinds-schema.ts";
import { type CheckContext, type CheckKind, type Finding, since } from "../check.ts";
import { type Page, withPage } from "../protocols/chromium.ts";

type Settings = MonitorSettings<"browser">;

const maxBytes = 64 * 1024 * 1024;
const maxTitle = 500;
/** How often a page is looked at that is to come to something. */
const lookMs = 100;
/** The part of its time that a check waits for something, so that it can still say for what. */
const patience = 0.9;
/** The part of it in which a page that failed may be looked at, and for how long at most. */
const lookingPart = 0.97;
const maxLookMs = 2_000;
const maxScreenshotBytes = 192 * 1024;
/** Of JPEG: the next one is tried where a screenshot is too large. */
const qualities = [60, 20, 5];

/** Up when the page can be loaded and used. All that it loads goes through a proxy that judges each address. */
export const checkBrowser: CheckKind<"browser"> = async (settings, context) => {
  const beganAt = performance.now();
  const url = new URL(settings.url);
  context.step = "resolving the name";
  await context.addressesOf(url.hostname, portOf(url));
  const browser = context.browser();
  if (browser === null) throw new OwnTrouble("there is no Chromium here (see --browser)");
  context.step = "waiting for the browser";
  return context.browserTurn(async () => {
    if (context.signal.aborted) throw new OwnTrouble("the check was stopped");
    context.step = "starting the browser";
    const proxy = await JudgingProxy.start(context, maxBytes);
    let failure: TargetFailure | null = null;
    try {
      return await withPage(browser, proxy.port, context, async (page) => {
        try {
          return await used(page, settings, context, beganAt, proxy);
        } catch (error) {
          if (!(error instanceof TargetFailure)) throw error;
          failure = error;
          const endsAt = beganAt + context.timeoutMs * lookingPart;
          const leftMs = Math.min(endsAt - performance.now(), maxLookMs);
          context.screenshot = await screenshotOf(page, leftMs);
          throw error;
        }
      });
    } catch (error) {
      // Whatever became of the screenshot, the check had failed before.
      throw failure ?? error;
    } finally {
      proxy.close();
    }
  });
};

async function used(
  page: Page,
  settings: Settings,
  context: CheckContext,
  beganAt: number,
  proxy: JudgingProxy,
): Promise<Finding<DetailsOf<"browser">>> {
  const startedAt = performance.now();
  const giveUpAt = beganAt + context.timeoutMs * patience;
  context.step = "loading the page";
  if (!settings.verifyTls) await page.ask("Security.setIgnoreCertificateErrors", { ignore: true });
  const loaded = page.next("Page.loadEventFired");
  const begun = page.ask<{ errorText?: string }>("Page.navigate", { url: settings.url });
  const { errorText } = await inTime(begun);
  if (errorText !== undefined) throw await failureTo(errorText);
  await inTime(loaded);
  const status = await evaluated(
    page,
    "performance.getEntriesByType('navigation')[0]?.responseStatus",
  );
  if (typeof status === "number" && status >= 400)
    throw new TargetFailure(`${named(status)}, expected less than 400.`);
  const loadMs = since(startedAt);
  for (const [index, step] of settings.steps.entries()) {
    context.part = `Step ${index + 1}`;
    context.step = "waiting for the page";
    await done(step);
  }
  context.part = null;
  if (settings.keyword !== null)
    await shows(settings.keyword, "The page does not contain the text.");
  const latencyMs = since(startedAt);
  const title = await evaluated(page, `document.title.slice(0, ${maxTitle})`);
  const details = { title: typeof title === "string" ? title : null, loadMs };
  const { length } = settings.steps;
  const steps =
    length === 0 ? "" : ` and ${length === 1 ? "1 step was" : `${length} steps were`} done`;
  const message = `The page was loaded${steps} in ${latencyMs} ms.`;
  return { status: "up", message, latencyMs, details };

  async function done(step: string) {
    const [, action, rest = ""] = /^(\w+) (.*)$/s.exec(step) ?? [];
    if (action === "expect") return shows(rest, "The page does not contain the text.");
    const [selector = "", ...values] = action === "fill" ? rest.split(" with ") : [rest];
    const visible = `(() => { const found = document.querySelector(${JSON.stringify(selector)}); return found !== null && found.getClientRects().length > 0; })()`;
    await until(visible, "Nothing visible matches its selector.");
    if (action === "click")
      await evaluated(page, `document.querySelector(${JSON.stringify(selector)}).click()`);
    if (action === "fill") await fill(selector, values.join(" with "));
  }

  async function fill(selector: string, value: string) {
    const isSecret = /\{\{\s*password\s*\}\}/.test(value);
    const isPassword = `(() => { const found = document.querySelector(${JSON.stringify(selector)}); found.focus(); found.select?.(); return found.type === "password"; })()`;
    const isHidden = await evaluated(page, isPassword);
    // A password goes to the origin that it was given for, and where nobody reads it.
    if (isSecret) {
      const { frame } = await frameOf(page);
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
    await page.ask("Input.insertText", { text });
  }

  function shows(text: string, otherwise: string) {
    const there = `document.body?.innerText.includes(${JSON.stringify(text)}) === true`;
    return until(there, otherwise);
  }

  async function until(expression: string, otherwise: string) {
    while ((await evaluated(page, expression)) !== true) {
      if (performance.now() > giveUpAt) throw await late(otherwise);
      await Bun.sleep(lookMs);
    }
  }

  async function failureTo(errorText: string): Promise<Error> {
    let found = await unreached();
    // The page that stands for the one that failed may come a moment later.
    for (let looks = 0; found === null && errorText.includes("SOCKS") && looks < 20; looks++) {
      await Bun.sleep(lookMs);
      found = await unreached();
    }
    return found ?? new TargetFailure(reasonIn(errorText));
  }

  /** Why the proxy did not connect to where the page is, or was to be; null where it did. */
  async function unreached(): Promise<Error | null> {
    // While it waits for another page Chromium says nothing of the one there is.
    const found = await Promise.race([frameOf(page), Bun.sleep(5 * lookMs)]);
    const url = URL.parse(found?.frame.unreachableUrl ?? "") ?? new URL(settings.url);
    return proxy.failureOf(url.hostname, portOf(url));
  }

  async function inTime<T>(work: Promise<T>): Promise<T> {
    const over = Promise.withResolvers<never>();
    const seconds = context.timeoutMs / 1000;
    const timer = setTimeout(
      () =>
        late(`Timed out after ${seconds} s while ${context.step}.`).then(over.reject, over.reject),
      Math.max(0, giveUpAt - performance.now()),
    );
    try {
      return await Promise.race([work, over.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Why there was not enough time: what a step led to was blocked, or the browser came late, or the page is to blame. */
  async function late(otherwise: string): Promise<Error> {
    const found = await unreached();
    if (found !== null) return found;
    return startedAt - beganAt > context.timeoutMs / 2
      ? new OwnTrouble("the browser was busy for too long")
      : new TargetFailure(otherwise);
  }
}

/** What is in sight, as JPEG; null where that can't be had in this time. */
async function screenshotOf(page: Page, leftMs: number): Promise<Uint8Array | null> {
  const over = Promise.withResolvers<null>();
  const timer = setTimeout(() => over.resolve(null), leftMs);
  async function taken(): Promise<Uint8Array | null> {
    for (const quality of qualities) {
      const { data } = await page.ask<{ data: string }>("Page.captureScreenshot", {
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
    return await Promise.race([taken().catch(() => null), over.promise]);
  } finally {
    clearTimeout(timer);
  }
}

type Frame = { frame: { securityOrigin: string; unreachableUrl?: string } };

const frameOf = async (page: Page) =>
  (await page.ask<{ frameTree: Frame }>("Page.getFrameTree")).frameTree;

/** What the page makes of an expression; undefined while it is between two documents. */
async function evaluated(page: Page, expression: string): Promise<unknown> {
  try {
    const { result, exceptionDetails } = await page.ask<{
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

/** Chromium's name of an error as a sentence of ours. */
function reasonIn(errorText: string): string {
  const known: Record<string, string> = {
    ERR_CERT_AUTHORITY_INVALID: "The certificate was issued by an authority that is not trusted.",
    ERR_CERT_COMMON_NAME_INVALID: "The certificate is for another name.",
    ERR_CERT_DATE_INVALID: reasonOf("CERT_HAS_EXPIRED") ?? "The certificate is not valid.",
    ERR_EMPTY_RESPONSE: "The connection was closed before the answer was complete.",
    ERR_TOO_MANY_REDIRECTS: "Too many redirects.",
    ERR_SSL_PROTOCOL_ERROR: "No TLS connection could be established.",
    ERR_ABORTED: "The address leads to no page.",
  };
  const name = errorText.replace(/^net::/, "");
  return known[name] ?? "The page can't be loaded.";
}
