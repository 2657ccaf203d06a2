/** A stand-in for Chromium, for tests that need no real browser. */
import { chmodSync, createReadStream, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/**
 * A program in place of Chromium. It loads each URL with `fetch`, and takes screenshots as the last
 * part of the URL requests. Each start appends its home directory to the file `home`.
 */
export function createFakeChromium(folder: string) {
  const [program, home] = [join(folder, "chromium"), join(folder, "home")];
  const run = `exec '${process.execPath}' '${import.meta.path}'`;
  writeFileSync(program, `#!/bin/sh\necho "$HOME" >> '${home}'\n${run}\n`);
  chmodSync(program, 0o755);
  return { program, home };
}

async function serveDevtools() {
  const write = (message: object) => writeSync(4, `${JSON.stringify(message)}\0`);
  const createJpeg = (size: number, quality: number) => {
    const bytes = Buffer.alloc(size, `${url} ${quality} `);
    bytes.set([0xff, 0xd8, 0xff]);
    return bytes.toString("base64");
  };
  let url = "about:blank";
  let status = 0;

  const results: Record<string, (parameters: never) => unknown> = {
    "Target.createTarget": () => ({ targetId: "page" }),
    "Target.attachToTarget": () => ({ sessionId: "session" }),
    "Page.getFrameTree": () => ({ frameTree: { frame: { securityOrigin: url } } }),
    "Runtime.evaluate": () => ({ result: { value: status } }),
    async "Page.navigate"(parameters: { url: string }) {
      ({ url } = parameters);
      ({ status } = await fetch(url));
      return {};
    },
    "Page.captureScreenshot"({ quality }: { quality: number }) {
      const manner = url.split("/").pop();
      if (manner === "dies") process.exit(1);
      if (manner === "hangs") return null;
      if (manner === "refuses") throw new Error("not now");
      if (manner === "crashes") write({ method: "Inspector.targetCrashed" });
      if (manner === "no-image") return { data: "<script>" };
      const isLarge = manner === "too-large" || (manner === "large" && quality > 20);
      return { data: createJpeg(isLarge ? 300_000 : 1_000, quality) };
    },
  };

  let unread = "";
  for await (const chunk of createReadStream("", { fd: 3, encoding: "utf8" })) {
    const messages = (unread + String(chunk)).split("\0");
    unread = messages.pop() ?? "";
    for (const text of messages) {
      const { id, method, params, sessionId } = JSON.parse(text);
      try {
        const result = (await results[method]?.(params as never)) ?? {};
        if (method === "Page.captureScreenshot" && !("data" in (result as object))) continue;
        write({ id, result, sessionId });
        if (method === "Page.navigate")
          write({ method: "Page.loadEventFired", params: {}, sessionId });
      } catch (error) {
        write({ id, error: { message: String(error) }, sessionId });
      }
    }
  }
}

if (import.meta.main) await serveDevtools();
