import { describe, expect, test } from "bun:test";
import { buildSection, createVisitor, readWords } from "../support/visitor.ts";

/** A page with these sections of one monitor each; names in lower case are nested. */
async function createNested(names: string, fields: Record<string, object> = {}, page: object = {}) {
  const visitor = await createVisitor();
  const all = names.split(" ");
  const result = all.map((name) => visitor.createJob({ name: `Monitor ${name}` }));
  const jobs = await Promise.all(result);
  for (const job of jobs) await job.report();
  await visitor.advance(1);
  const sections = all.map((name, index) => ({
    ...buildSection(`Section ${name}`, jobs[index]?.id ?? ""),
    nested: name === name.toLowerCase(),
    ...fields[name],
  }));
  await visitor.publish({ sections, ...page });
  const read = async () => {
    await visitor.restart();
    return (await visitor.readHtml("/status/ours")).text;
  };
  return { ...visitor, jobs, read };
}

describe("a nested section", () => {
  test("is inside its parent, with headings one level deeper", async () => {
    const html = await (await createNested("A b c D")).read();
    expect(readWords(html, ".sec > .nested h3")).toEqual(["Section b", "Section c"]);
    expect(readWords(html, ".sec > .nested h4")).toEqual(["Monitor b", "Monitor c"]);
    expect(readWords(html, "main > .sec > h2")).toEqual(["Section A", "Section D"]);
    expect(html.match(/<(section|details) class="sec/g)).toHaveLength(4);
    expect(html.match(/<\/(section|details)>/g)?.length).toBeGreaterThanOrEqual(4);
  });

  test("stands alone for visitors who do not see its parent", async () => {
    const page = await createNested("A B c", { B: { audience: "signed-in" } });
    const html = await page.read();
    expect(readWords(html, "main > .sec > h2")).toEqual(["Section A", "Section c"]);
    const { json } = await page.readHtml("/status/ours.json");
    expect(json().sections.map(({ nested }: { nested: boolean }) => nested)).toEqual([
      false,
      false,
    ]);
  });

  test("can't be the first one", async () => {
    const { api, defaultPage } = await createNested("A");
    const { id } = await defaultPage();
    const body = { sections: [{ name: "First", nested: true }] };
    const { status, json } = await api("PATCH", `/api/v1/status-pages/${id}`, { body });
    expect([status, json.error.details]).toEqual([
      422,
      [{ path: "sections[0].nested", message: "must be false for the first section" }],
    ]);
  });
});

describe("a folded section", () => {
  test("shows the worst state of its monitors and of nested sections in its line", async () => {
    const page = await createNested("A b C", { A: { folding: "folded" } });
    const readLine = async () => readWords(await page.read(), "details.sec > summary .word");
    expect(await readLine()).toEqual(["All 2 up"]);
    await page.jobs[1]?.report({ status: "down" });
    await page.advance(1);
    expect(await readLine()).toEqual(["Down"]);
  });

  test("can be nested, and is open without JavaScript only on request", async () => {
    const html = await (await createNested("A b", { b: { folding: "folded" } })).read();
    expect(readWords(html, "section.sec > details.nested > summary h3")).toEqual(["Section b"]);
    expect(html).not.toContain("<details open");
  });
});

test("a monitor's name links to its address, which can be no script", async () => {
  const page = await createNested("A");
  const { id } = await page.defaultPage();
  const link = 'https://shop.example/?a="b"&c=<d>';
  const publish = (link: string) =>
    page.api("PATCH", `/api/v1/status-pages/${id}`, {
      body: { sections: [{ name: "A", monitors: [{ id: page.jobs[0]?.id, link }] }] },
    });
  expect((await publish(link)).status).toBe(200);
  const html = await page.read();
  expect(html).toMatch(
    /<a href="https:\/\/shop\.example\/\?a=[^"<>]*" rel="noopener">Monitor A<\/a>/,
  );
  const { json } = await page.readHtml("/status/ours.json");
  expect(json().sections[0].monitors[0].link).toStartWith("https://shop.example/");
  for (const wrong of ["javascript:alert(1)", "data:text/html,a", "//shop.example", ""])
    expect([wrong, (await publish(wrong)).status]).toEqual([wrong, 422]);
});
