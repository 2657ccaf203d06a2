import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strandedSecrets } from "../../../../src/core/kind-secrets.ts";
import { findBrowser } from "../../../../src/monitoring/checks/chromium.ts";
import { monitorKinds } from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { freePort } from "../../../support/binary.ts";
import { check } from "../../../support/checking.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
afterAll(() => rmSync(folder, { recursive: true }));
const browser = findBrowser();
if (browser === null) console.warn("\nNOT TESTED: what needs Chromium; apt-get install chromium\n");

/** A shop: asks for its people, loads from elsewhere, and answers late, wrong or with a redirect where it is told to. */
function shop() {
  const asked: string[] = [];
  let strayed = 0;
  const elsewhere = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(`${++strayed}`),
  });
  const page = (body: string) =>
    new Response(`<!doctype html><body>${body}`, { headers: { "Content-Type": "text/html" } });
  const login = `<input id=user><input id=password type=password><button id=send
    onclick="setTimeout(() => { document.title = user.value; done.textContent = 'Welcome ' + user.value + ' ' + password.value.length; alert('x') }, 50)">Send</button><p id=done></p>
    <img src="http://127.0.0.1:${elsewhere.port}/blocked.png"><iframe src="http://localhost:${elsewhere.port}/"></iframe>`;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      if (pathname === "/blocked") return Response.redirect(`http://127.0.0.1:${elsewhere.port}/`);
      if (pathname === "/broken") return new Response("broken", { status: 500 });
      return page(login);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked,
    strayed: () => strayed,
    elsewhere: { host: "127.0.0.1", port: elsewhere.port ?? 0 },
    async [Symbol.asyncDispose]() {
      await Promise.all([server.stop(true), elsewhere.stop(true)]);
    },
  };
}

const found = (url: string, fields: object = {}, circumstances: Parameters<typeof check>[2] = {}) =>
  check(
    "browser",
    { url, ...fields },
    { browser: browser ?? "", timeoutMs: 60_000, ...circumstances },
  );

/** A program that stands for Chromium, and the file with its id. */
function program(text: string) {
  const file = join(folder, "chromium");
  writeFileSync(file, `#!/bin/sh\necho $$ > ${folder}/pid\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe.skipIf(browser === null)("with the Chromium of this machine", () => {
  test("a page is loaded and used, and nothing that is blocked is connected to", async () => {
    await using own = shop();
    const fields = {
      steps: [
        "wait #user",
        "fill #user with {{username}} & with care",
        "fill #password with {{password}}",
        "click #send",
        "expect Welcome ann & with care 6",
      ],
      keyword: "Send",
      username: "ann",
      password: "secret",
    };
    const outcome = await found(own.url.replace("127.0.0.1", "localhost"), fields, {
      listeners: [own.elsewhere],
    });
    expect(outcome).toMatchObject({
      status: "up",
      message: expect.stringMatching(/^The page was loaded and 5 steps were done in \d+ ms\.$/),
    });
    expect([own.asked.includes("/"), own.strayed()]).toEqual([true, 0]);
  });

  test("an answer of 500, and a redirect to what is blocked, are down", async () => {
    await using own = shop();
    expect(await found(`${own.url}/broken`)).toMatchObject({
      status: "down",
      message: "HTTP 500 (Internal Server Error), expected less than 400.",
    });
    const listeners = [own.elsewhere];
    expect(await found(`${own.url}/blocked`, {}, { listeners })).toMatchObject({
      status: "down",
      message: "Blocked: the target is this appliance itself.",
      final: true,
    });
    expect(own.strayed()).toBe(0);
  });

  test("a step that can't be done is named, and a password goes into no other field", async () => {
    await using own = shop();
    const fields = { steps: ["wait body", "fill #user with {{password}}"], password: "secret" };
    expect(await found(`${own.url}/`, fields)).toMatchObject({
      status: "down",
      message: "Step 2: The field is not one for passwords, and is not given the password.",
    });
  });
});

test("what is blocked, or not there, starts no browser", async () => {
  const trace = join(folder, "started");
  const tracing = program(`touch ${trace}`);
  const listeners = [{ host: "127.0.0.1", port: 80 }];
  const blocked = await found("http://localhost/", {}, { browser: tracing, listeners });
  expect(blocked.message).toBe("Blocked: the target is this appliance itself.");
  expect(existsSync(trace)).toBe(false);
});

test("a browser that does not start, or ends, says nothing of the page", async () => {
  const url = `http://127.0.0.1:${freePort()}/`;
  const ended = "Not judged: the browser of this machine ended by itself, or did not start.";
  expect((await found(url, {}, { browser: program("exit 1") })).message).toBe(ended);
  const hanging = program("sleep 1000 & echo $! >> $0.child; wait");
  const late = await found(url, {}, { browser: hanging, timeoutMs: 1_000 });
  expect(late.message).toBe("Not judged: the browser took too long to start.");
  const isThere = (pid: string) =>
    existsSync(`/proc/${pid}/stat`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  for (const file of ["pid", "chromium.child"])
    if (existsSync(join(folder, file)))
      for (const pid of readFileSync(join(folder, file), "utf8").trim().split("\n"))
        while (isThere(pid)) await Bun.sleep(5);
});

test("its password stays with the address, and with the steps that it was given for", () => {
  const { secrets } = monitorKinds.browser;
  expect(Object.keys(secrets)).toEqual(["password"]);
  const here = { url: "https://shop.lan/", verifyTls: true, steps: ["click a"], password: "x" };
  for (const change of [{ url: "https://other.lan/" }, { verifyTls: false }, { steps: [] }])
    expect(strandedSecrets(monitorKinds, "browser", here, change)).toEqual([["password"]]);
  expect(strandedSecrets(monitorKinds, "browser", here, { steps: ["click a"] })).toEqual([]);
});
