/** The PDF of a report: who gets it, what is printed, and what happens without Chromium. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { getLanguage } from "../../src/status-pages/languages/catalog.ts";
import { composePdfDocument } from "../../src/reports/pdf-document.ts";
import { ReportPrinter } from "../../src/reports/printer.ts";
import { Report } from "../../src/reports/schema.ts";
import { pageLanguages } from "../../src/core/languages.ts";
import { createDashboard } from "../support/dashboard.ts";
import { wholeChromium } from "../support/browser.ts";

const example = Report.parse(Report.meta()?.["example"]);
const [monitor] = example.monitors;
if (monitor === undefined) throw new Error("The example has no monitor.");

test("without Chromium, the PDF is a conflict that names the remedy", async () => {
  const { api } = await createDashboard();
  const { status, json } = await api("GET", "/api/v1/reports/pdf?month=2026-10");
  expect([status, json.error.code]).toEqual([409, "CONFLICT"]);
  expect(json.error.message).toContain("serve --browser");
  expect((await api("GET", "/api/v1/reports/pdf?language=xx")).status).toBe(422);
});

test("the document escapes names, loads nothing, and lists at most 500 monitors", () => {
  const monitors = Array.from({ length: 502 }, (_, index) => ({
    ...monitor,
    name: `<script>${index}</script>`,
    downSeconds: index,
  }));
  const html = composePdfDocument(
    { ...example, monitors },
    { interval: "monthly", organization: "A & B", language: getLanguage("en") },
  );
  expect(html).not.toContain("<script");
  expect(html).toContain("Content-Security-Policy");
  expect(html).toContain("&lt;script&gt;501");
  expect(html).not.toContain("&lt;script&gt;1&lt;");
  expect(html).toContain("2 more");
});

test("the document is in the language of the recipient, with its direction", () => {
  const titles = pageLanguages.map((tag) => {
    const html = composePdfDocument(example, {
      interval: "monthly",
      organization: "Acme",
      language: getLanguage(tag),
    });
    expect(html).toContain(`<html lang="${tag}" dir="${tag === "ar" ? "rtl" : "ltr"}">`);
    return /<h1>(.*)<\/h1>/.exec(html)?.[1];
  });
  expect(new Set(titles).size).toBe(pageLanguages.length);
});

test.skipIf(!existsSync(wholeChromium))(
  "Chromium prints without network, and once for all recipients of a document",
  async () => {
    let requests = 0;
    using server = Bun.serve({
      port: 0,
      fetch: () => {
        requests += 1;
        return new Response("");
      },
    });
    const printer = new ReportPrinter(wholeChromium);
    const html = `<body><img src="http://127.0.0.1:${server.port}/"><script>fetch("http://127.0.0.1:${server.port}/")</script>Report</body>`;
    const [first, second] = await Promise.all([
      printer.print("a", wholeChromium, html),
      printer.print("a", wholeChromium, html),
    ]);
    expect(first).toBe(second);
    expect(Buffer.from(first.subarray(0, 5)).toString()).toBe("%PDF-");
    expect(requests).toBe(0);
    const failure = await printer.print("a", "/nonexistent", "<p>").catch(String);
    expect(failure).toContain("did not start");
  },
);
