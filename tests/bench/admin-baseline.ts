import type { Page } from "playwright-core";

/**
 * The least work for a browser: the same rows as ready-made HTML with the same styles, inserted
 * when the same data has arrived, from a bare Bun.serve.
 */
export async function measureBaseline(page: Page, url: string) {
  const { list, styles } = await page.evaluate(() => ({
    list: document.querySelector("#root")?.outerHTML ?? "",
    styles: document.querySelector<HTMLLinkElement>("link[rel=stylesheet]")?.href ?? "",
  }));
  const css = await (await fetch(styles)).text();
  const data = await page.evaluate(
    async (url) => (await fetch(url)).text(),
    `${url}/dashboard/overview`,
  );
  const stored = { "Cache-Control": "public, max-age=31536000, immutable" };
  const compressResponse = (text: string, type: string, more: object = {}) =>
    new Response(Bun.gzipSync(text), {
      headers: { "Content-Type": type, "Content-Encoding": "gzip", ...more },
    });
  const script = `fetch("/data").then((answer) => answer.json()).then(() => {
    document.body.innerHTML = ${JSON.stringify(list)};
  });`;
  const html = `<!doctype html><title>Baseline</title><link rel="stylesheet" href="/styles.css"><script defer src="/script.js"></script><body>`;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/": compressResponse(html, "text/html; charset=utf-8"),
      "/styles.css": compressResponse(css, "text/css", stored),
      "/script.js": compressResponse(script, "text/javascript; charset=utf-8", stored),
      "/data": compressResponse(data, "application/json"),
    },
    fetch: () => new Response(null, { status: 404 }),
  });
  return { url: server.url.href, [Symbol.asyncDispose]: () => server.stop(true) };
}
