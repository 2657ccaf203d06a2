import { expect, test } from "bun:test";
import { parseMarkdown, renderHtml, renderText } from "../../src/core/text/markdown.ts";
import { dumpTables } from "../support/appliance.ts";
import { createDashboard } from "../support/dashboard.ts";
import type { Json } from "../support/json.ts";
import { createSampleRecord } from "../support/records.ts";
import { texts } from "../support/text-schemas.ts";

test("every multi-line text accepts CRLF like LF, and rejects a single CR", () => {
  const wrong: string[] = [];
  let count = 0;
  for (const [name, text] of texts) {
    const accepts = (sample: string) => text.safeParse(sample).success;
    // A request body or a script can contain any character.
    if (!accepts("a\nb") || accepts("a\u0007b")) continue;
    count++;
    for (const good of ["a\r\nb", "a\r\n", "\r\n\ta\r\n\r\nb"])
      if (!accepts(good)) wrong.push(`${name} rejects ${JSON.stringify(good)}`);
    for (const bad of ["a\rb", "a\r", "a\n\rb", "a\r\r\nb", "\r"])
      if (accepts(bad)) wrong.push(`${name} takes ${JSON.stringify(bad)}`);
  }
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(15);
});

const crlf = "First line\r\n\r\n- a point\r\n- another";

const fields: [noun: string, field: string, path: string][] = [
  ["monitor-groups", "description", ""],
  ["monitors", "description", ""],
  ["maintenance-windows", "description", ""],
  ["status-pages", "description", ""],
  ["alert-channels", "template", ""],
  ["incident-templates", "message", ""],
  ["incidents", "message", ""],
  ["incidents", "message", "/notes"],
  ["incidents", "message", "/postmortem"],
];

test.each(fields)("%s: %s%s is stored exactly as sent", async (noun, field, below) => {
  const appliance = await createDashboard();
  const { api } = appliance;
  const id = await createSampleRecord(api, noun);
  const path = `/api/v1/${noun}/${id}${below}`;
  const method = below === "/notes" ? "POST" : "PATCH";
  const { status, json } = await api(method, path, { body: { [field]: crlf } });
  expect([200, 201]).toContain(status);
  const { data } = json as { data: Json };
  const stored =
    below === "/postmortem"
      ? data.postmortem.message
      : (data[field] ?? data.updates.at(-1).message);
  expect(stored).toBe(crlf);
  const before = dumpTables(appliance);
  const rejected = await api(method, path, { body: { [field]: "a\rb" } });
  expect([rejected.status, rejected.json.error.details[0].path]).toEqual([422, field]);
  expect(dumpTables(appliance)).toBe(before);
});

test("CRLF is shown like LF", () => {
  const lf = crlf.replaceAll("\r", "");
  for (const text of [lf, "plain\nlines\n\nand more", "`code`\n\n    block\n    lines"]) {
    const other = text.replaceAll("\n", "\r\n");
    expect(renderHtml(parseMarkdown(other))).toBe(renderHtml(parseMarkdown(text)));
    expect(renderText(parseMarkdown(other))).toBe(renderText(parseMarkdown(text)));
  }
});
