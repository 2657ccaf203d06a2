import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { binary, getFreePort, waitUntilHealthy } from "../support/binary.ts";
import { createMachine } from "../support/machine.ts";
import { waitUntil } from "../support/poll.ts";

/** A desktop with a browser that records opened URLs. */
async function createDesktop() {
  const box = createMachine();
  const programs = join(box.directory, "bin");
  const seen = join(box.directory, "opened");
  const work = join(box.directory, "Downloads");
  mkdirSync(programs);
  mkdirSync(work);
  const browser = join(programs, "xdg-open");
  await Bun.write(browser, `#!/bin/sh\necho "$1" > "${seen}.new" && mv "${seen}.new" "${seen}"\n`);
  chmodSync(browser, 0o755);
  const port = getFreePort();
  const env: Record<string, string | undefined> = {
    ...process.env,
    PATH: `${programs}:${process.env["PATH"]}`,
    XDG_DATA_HOME: join(box.directory, "share"),
    DISPLAY: ":0",
    SIGNALBOX_HOST: "127.0.0.1",
    SIGNALBOX_PORT: String(port),
  };
  const running: Bun.Subprocess[] = [];
  return {
    work,
    env,
    url: `http://127.0.0.1:${port}`,
    data: join(box.directory, "share", "signalbox"),
    start(args: string[] = [], changes: typeof env = {}) {
      const child = Bun.spawn([binary, ...args], {
        cwd: work,
        env: { ...env, ...changes },
        stdout: "pipe",
        stderr: "pipe",
      });
      running.push(child);
      return child;
    },
    /** The next opened URL. */
    async opened(): Promise<string> {
      await waitUntil(() => existsSync(seen));
      const page = await Bun.file(seen).text();
      await Bun.file(seen).delete();
      return page.trim();
    },
    hasOpened: () => existsSync(seen),
    async [Symbol.asyncDispose]() {
      for (const child of running) child.kill("SIGKILL");
      await Promise.all(running.map((child) => child.exited));
      await box[Symbol.asyncDispose]();
    },
  };
}

test("a double click serves, stores its data in the person's folder, and opens the set-up page", async () => {
  await using home = await createDesktop();
  const child = home.start();
  const page = await home.opened();
  const token = await Bun.file(join(home.data, "set-up-token")).text();
  expect(page).toBe(`${home.url}/set-up#${token.trim()}`);
  expect((await fetch(page)).status).toBe(200);
  expect(existsSync(join(home.work, "signalbox-data"))).toBe(false);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect(await new Response(child.stdout).text()).toContain(`Data             ${home.data}\n`);
  expect(existsSync(join(home.data, "signalbox.url"))).toBe(false);
});

test("it serves even when it can't write its address for a second start, for example on a full disk", async () => {
  await using home = await createDesktop();
  mkdirSync(join(home.data, "signalbox.url.part"), { recursive: true });
  const child = home.start();
  expect((await fetch(await home.opened())).status).toBe(200);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});

test("a second start opens the page of the running server and exits", async () => {
  await using home = await createDesktop();
  home.start();
  const page = await home.opened();
  const second = home.start();
  expect(await home.opened()).toBe(page);
  expect(await second.exited).toBe(0);
  expect(await new Response(second.stdout).text()).toContain(`running already: ${page}\n`);
  const unasked = home.start(["serve", "--data-dir", home.data]);
  expect(await unasked.exited).toBe(5);
});

test("it uses a data directory next to it, like every other command", async () => {
  await using home = await createDesktop();
  const created = home.start(["orgs", "create", "Acme"]);
  expect(await created.exited).toBe(0);
  home.start();
  await home.opened();
  expect(existsSync(home.data)).toBe(false);
  const listed = home.start(["orgs", "list"]);
  expect(await new Response(listed.stdout).text()).toContain("acme");
});

test("options without a command are those of serve", async () => {
  await using home = await createDesktop();
  const dataDir = join(home.work, "elsewhere");
  home.start(["--open", "--data-dir", dataDir]);
  expect(await home.opened()).toStartWith(`${home.url}/set-up#`);
  expect([existsSync(dataDir), existsSync(home.data)]).toEqual([true, false]);
  const wrong = home.start(["--opne"]);
  expect(await wrong.exited).toBe(2);
  expect(await new Response(wrong.stderr).text()).toContain("Did you mean --open?");
});

test("without a screen nothing is opened", async () => {
  await using home = await createDesktop();
  home.start([], { DISPLAY: undefined, WAYLAND_DISPLAY: undefined });
  await waitUntilHealthy(home.url);
  const second = home.start([], { DISPLAY: undefined, WAYLAND_DISPLAY: undefined });
  expect(await second.exited).toBe(0);
  expect(home.hasOpened()).toBe(false);
});

test("serve opens no browser without the option", async () => {
  await using home = await createDesktop();
  const child = home.start(["serve"]);
  await waitUntilHealthy(home.url);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect([home.hasOpened(), existsSync(join(home.work, "signalbox-data"))]).toEqual([false, true]);
});
