import { expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";

const root = join(import.meta.dir, "..", "..");

/** Exceptions: forms without the common frame. None of them has a list. */
const plain = [
  "input",
  "TextInput",
  "Textarea",
  "Button",
  "BusyButton",
  "Icon",
  "div",
  "p",
  "span",
  "MoreTypes",
];

test("every form with a list has the common frame, in which Enter selects and does not send", async () => {
  const foreign: string[] = [];
  let frames = 0;
  for (const path of new Glob("web/**/*.tsx").scanSync(root)) {
    const text = await Bun.file(join(root, path)).text();
    for (const [form] of text.matchAll(/<form\b.*?<\/form>/gs)) {
      if (form.includes("onKeyDown={handleEnter}")) {
        frames++;
        continue;
      }
      for (const [, name = ""] of form.slice(1).matchAll(/<([A-Za-z.]+)/g))
        if (!plain.includes(name)) foreign.push(`${path}: ${name}`);
    }
  }
  expect([frames, foreign]).toEqual([1, []]);
});
