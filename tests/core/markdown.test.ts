import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  parseMarkdown,
  parsePlainText,
  renderHtml,
  renderText,
} from "../../src/core/text/markdown.ts";
import { hostileMarkdown } from "../support/hostile-markdown.ts";

const buildHtml = (text: string) => renderHtml(parseMarkdown(text)).replaceAll(' dir="auto"', "");
const buildText = (written: string) => renderText(parseMarkdown(written));
const buildLink = (url: string, words: string) =>
  `<a href="${url}" rel="noopener noreferrer">${words}</a>`;

test("bold, italic, code and links are rendered", () => {
  expect(buildHtml("**Payments work** *again*, ***really***: `a < b`")).toBe(
    "<p><strong>Payments work</strong> <em>again</em>, <strong><em>really</em></strong>: <code>a &lt; b</code></p>",
  );
  expect(buildHtml("[What to **do**](https://a.example/?a=1&b=2 'title')")).toBe(
    `<p>${buildLink("https://a.example/?a=1&amp;b=2", "What to <strong>do</strong>")}</p>`,
  );
  expect(buildHtml("[write](mailto:a@example.com), <b@example.com>")).toBe(
    `<p>${buildLink("mailto:a@example.com", "write")}, ${buildLink("mailto:b@example.com", "b@example.com")}</p>`,
  );
});

test("a task starts with a box; elsewhere brackets are text", () => {
  const read = (text: string) => JSON.stringify(parseMarkdown(text));
  expect(read("- [ ] Open\n- [x] **Done**")).toContain('"☐ Open"');
  expect(read("- [ ] Open\n- [x] **Done**")).toContain('"☑ "');
  for (const text of [
    "[ ] no list",
    "- [y] no",
    "- a [ ] b",
    "- `[ ]` code",
    "- [x](https://a.example)",
  ])
    expect(read(text)).not.toMatch(/[☐☑]/);
});

test("lists nest and preserve their first number", () => {
  expect(buildHtml("- a\n- b\n  1. c\n\n4. d\n5. e\n\n   f")).toBe(
    '<ul><li>a</li><li>b<ol><li>c</li></ol></li></ul><ol start="4"><li>d</li><li>e<p>f</p></li></ol>',
  );
});

test("lines and paragraphs are preserved", () => {
  expect(buildHtml("one\ntwo\n\n\nthree")).toBe("<p>one<br>two</p><p>three</p>");
  expect(buildHtml("```sh\nls -l\n\n  <b>\n```")).toBe(
    "<pre><code>ls -l\n\n  &lt;b&gt;</code></pre>",
  );
});

test("headings are bold paragraphs, quotes paragraphs, images links, HTML and tables text", () => {
  expect(buildHtml("# Root *cause*\nWorkers")).toBe(
    "<p><strong>Root </strong><strong><em>cause</em></strong></p><p>Workers</p>",
  );
  expect(buildHtml("> a\n> b")).toBe("<p>a<br>b</p>");
  expect(buildHtml("![Graph](https://a.example/g.png)")).toBe(
    `<p>${buildLink("https://a.example/g.png", "Graph")}</p>`,
  );
  expect(buildHtml("[![Graph](https://a.example/g.png)](https://a.example/)")).toBe(
    `<p>${buildLink("https://a.example/", "Graph")}</p>`,
  );
  expect(buildHtml('Set <your-host>.\n\n<div onclick="x">\nno\n</div>')).toBe(
    "<p>Set &lt;your-host&gt;.</p><p>&lt;div onclick=&quot;x&quot;&gt;<br>no<br>&lt;/div&gt;</p>",
  );
});

test("a plain address becomes a link, without surrounding punctuation", () => {
  const url = "https://a.example/x_(y)?q=*";
  expect(buildHtml("See https://a.example/x_(y), (http://b.example/) or ftp://c.example.")).toBe(
    `<p>See ${buildLink("https://a.example/x_(y)", "https://a.example/x_(y)")}, (${buildLink("http://b.example/", "http://b.example/")}) or ftp://c.example.</p>`,
  );
  expect(buildHtml(`\`${url}\``)).toBe(`<p><code>${url}</code></p>`);
});

test("a link with a disallowed scheme is text with its address", () => {
  expect(buildHtml("[here](javascript:alert(1))")).toBe("<p>here (javascript:alert(1))</p>");
  expect(buildHtml("[docs](/docs) [a](//a.example) [b](data:text/html,x)")).toBe(
    "<p>docs (/docs) a (//a.example) b (data:text/html,x)</p>",
  );
  expect(buildHtml("[bank](https://bank.example@evil.example/)")).toBe(
    "<p>bank (https://bank.example@evil.example/)</p>",
  );
});

test("the text form has the same content without marks", () => {
  expect(
    buildText(
      "**We** restart `all`.\nSoon.\n\n- a\n- [b](https://b.example/)\n  1. c\n\n<https://d.example/>",
    ),
  ).toBe("We restart all.\nSoon.\n\n- a\n- b (https://b.example/)\n  1. c\n\nhttps://d.example/");
  expect(buildText("[write](mailto:a@example.com) <a@example.com>")).toBe(
    "write (a@example.com) a@example.com",
  );
});

test("other alphabets preserve their letters, and each block its direction", () => {
  expect(renderHtml(parseMarkdown("**تعمل** المدفوعات.\n\n- شلום\n\n支付**恢复**了"))).toBe(
    '<p dir="auto"><strong>تعمل</strong> المدفوعات.</p><ul dir="auto"><li>شلום</li></ul><p dir="auto">支付<strong>恢复</strong>了</p>',
  );
});

test("text that is not Markdown is unchanged", () => {
  expect(renderHtml(parsePlainText("*api*_x is\n[down](https://a.example/)"))).toBe(
    `<p dir="auto">*api*_x is<br>[down](${buildLink("https://a.example/", "https://a.example/")})</p>`,
  );
});

const allowed: Record<string, string[]> = {
  p: ["dir"],
  ul: ["dir"],
  ol: ["dir", "start"],
  pre: ["dir"],
  a: ["href", "rel"],
  ...Object.fromEntries(["li", "code", "strong", "em", "br"].map((name) => [name, []])),
};

/** The disallowed or unclosed parts of some HTML. */
async function findForbidden(text: string): Promise<string[]> {
  const found: string[] = [];
  let open = 0;
  await new HTMLRewriter()
    .on("*", {
      element(element) {
        const attributes = allowed[element.tagName];
        if (attributes === undefined) found.push(element.tagName);
        for (const [name, value] of element.attributes) {
          if (!attributes?.includes(name)) found.push(`${element.tagName} ${name}`);
          if (name === "href" && !/^(https?:\/\/|mailto:)/.test(value)) found.push(value);
        }
        if (element.tagName === "br") return;
        open++;
        element.onEndTag(() => void open--);
      },
      comments: () => void found.push("comment"),
    })
    .onDocument({ doctype: () => void found.push("doctype") })
    .transform(new Response(text))
    .text();
  if (open !== 0) found.push("open");
  return found;
}

const marks = "** * _ ` ```\n [ ] ]( ( ) ![ < > </ <a <!-- - 1. \\ & &lt; &#x3c; \" ' # =".split(
  " ",
);
const words = "javascript: data: https://a.example mailto: onload= x שלום \u202e 😀".split(" ");
const pieces = fc.constantFrom(...marks, ...words, " ", "\n", "\n\n", "    ", "- ", "> ");
const random = fc.oneof(
  fc.array(pieces, { maxLength: 40 }).map((all) => all.join("")),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.array(fc.constantFrom(...hostileMarkdown), { maxLength: 3 }).map((all) => all.join("")),
);

test("any input renders only allowed HTML", async () => {
  await fc.assert(
    fc.asyncProperty(random, async (written) => {
      expect(await findForbidden(renderHtml(parseMarkdown(written)))).toEqual([]);
      expect(renderText(parseMarkdown(written))).toBeString();
    }),
    { numRuns: 1_500 },
  );
});

test("hostile texts render only allowed HTML", async () => {
  expect(hostileMarkdown.length).toBeGreaterThanOrEqual(60);
  for (const written of hostileMarkdown)
    expect([written, await findForbidden(renderHtml(parseMarkdown(written)))]).toEqual([
      written,
      [],
    ]);
});

test("trailing spaces are removed with and without the parser", () => {
  for (const end of ["", "\n\n**end**"])
    expect(renderText(parseMarkdown(`one  \ntwo \t\nthree${end}`))).toStartWith(
      "one\ntwo \t\nthree",
    );
});

test("text without marks is the same with and without the parser", () => {
  const plain = fc
    .array(fc.constantFrom("a", "B", " ", "\n", "\n\n", "\t", ".", ",", "ü", "-", "5", ":", "'"))
    .map((all) => all.join(""));
  fc.assert(
    fc.property(plain, (written) => {
      // A mark at the end makes the parser read it.
      const parsed = renderText(parseMarkdown(`${written}\n\n**end**`));
      const expected = renderText(parseMarkdown(written));
      expect(parsed).toBe(expected === "" ? "end" : `${expected}\n\nend`);
    }),
  );
});

/** Without limits, parsing each of these takes superlinear time. */
const endless = [
  "[",
  "*",
  "_",
  ">",
  "- ",
  "> - ",
  "1. ",
  "](",
  "[](",
  "[a](b (",
  "![",
  "<",
  "<!--",
  "`",
  "a*",
  "**a ",
  "- a\n",
  "\n\n> a",
];

test("a text of any length is rendered, and as plain text if parsing would take too long", () => {
  for (const piece of endless) {
    const long = piece.repeat(50_000 / piece.length);
    expect(renderText(parseMarkdown(long)).replace(/\s/g, "")).toBe(long.replace(/\s/g, ""));
  }
  // Deep nesting followed by many lines takes seconds without limits.
  const deep = `${"- ".repeat(2_000)}a\n${"b\n".repeat(900)}`;
  expect(renderHtml(parseMarkdown(deep))).not.toContain("<ul");
  expect(renderHtml(parseMarkdown(`${"  - ".repeat(3)}a\n**b**`))).toContain("<strong>b</strong>");
});
