/** Calls: the key that acknowledges an alert, attacks on it, and calls that nobody answers. */
import { createHmac } from "node:crypto";
import { expect, test } from "bun:test";
import type { Exchange } from "../../../src/core/outgoing/http/exchange.ts";
import { exchange as real } from "../../../src/core/outgoing/http/exchange.ts";
import { createPublicLinks } from "../../support/public-links.ts";
import type { Json } from "../../support/json.ts";
import { createPager } from "../../support/pager.ts";

const usualUrl = "https://status.team.example";
const publicUrl = usualUrl;
const secret = "s3cret";

/** A monitor that is down, and a call about it through Twilio, whose state can be changed. */
async function createWorld({ isPublic = true, publicUrl = usualUrl } = {}) {
  const scripts: string[] = [];
  const call = { status: "in-progress" };
  const exchange: Exchange = (request, context) => {
    if (request.url.hostname !== "api.twilio.com") return real(request, context);
    const script = new URLSearchParams(String(request.body)).get("Twiml");
    if (request.method === "POST") scripts.push(script ?? "");
    const body = JSON.stringify({ sid: "CA1", ...call });
    return Promise.resolve({ status: 201, headers: new Map(), body });
  };
  const pager = await createPager({ exchange, ...(isPublic && { publicUrl }) });
  const backup = await pager.inbox({ name: "Backup" });
  const phone = await pager.channel({
    type: "voice",
    name: "Phone",
    preset: "twilio",
    account: "AC1",
    secret,
    from: "+4915112345678",
    to: "+491701234567",
  });
  const steps = [phone, backup].map(({ id }, index) => ({
    afterMinutes: index * 30,
    targets: [{ type: "channel", id }],
  }));
  const body = { name: "On-call", steps };
  const policy = (await pager.api("POST", "/api/v1/escalation-policies", { body })).json.data;
  const job = await pager.createWatchedJob([], { escalationPolicyId: policy.id });
  await job.change({ alertChannelIds: [] });
  await job.changeState("down");
  await pager.later();
  const url = /action="([^"]+)"/.exec(scripts.at(-1) ?? "")?.[1] ?? "";
  const path = url.replace(publicUrl, "");
  const press = async (
    Digits: string,
    options: { to?: string; signedFor?: string; key?: string } = {},
  ) => {
    const { to = path, signedFor = `${publicUrl}${to}`, key = secret } = options;
    const form = { AccountSid: "AC1", CallSid: "CA1", Digits };
    const content = `${signedFor}AccountSidAC1CallSidCA1Digits${Digits}`;
    const signature = createHmac("sha1", key).update(content).digest("base64");
    const raw = new URLSearchParams(form).toString();
    return pager.stranger("POST", to, {
      raw,
      headers: {
        "Content-Type": "application/x-www-form-urlencoded",
        "Content-Length": String(raw.length),
        "X-Twilio-Signature": signature,
      },
    });
  };
  const readOne = async () => (await pager.readAlerts())[0] as Json;
  return {
    ...pager,
    job,
    backup,
    phone,
    scripts,
    call,
    url,
    path,
    press,
    readOne,
    [Symbol.asyncDispose]: () => backup[Symbol.asyncDispose](),
  };
}

test("key 4 acknowledges the alert as the channel, and the call says so", async () => {
  await using world = await createWorld();
  const { press, readOne, scripts, url } = world;
  expect(url).toMatch(/^https:\/\/status\.team\.example\/a\/[\w-]+\/call$/);
  expect(scripts[0]).toContain("Press 4 to acknowledge.");
  const other = await press("5");
  expect([other.status, other.text]).toEqual([
    200,
    expect.stringContaining(`<Gather action="${url}"`),
  ]);
  expect((await readOne()).status).toBe("open");
  const { status, text, headers } = await press("4");
  expect([status, headers.get("Content-Type")]).toEqual([200, "text/xml"]);
  expect(text).toContain("Acknowledged.");
  expect(await readOne()).toMatchObject({
    status: "acknowledged",
    acknowledgments: [{ type: "link", id: world.phone.id, name: "Phone" }],
  });
});

test.each(["4", "5"])("key %s after the end of the alert is answered in words", async (key) => {
  await using world = await createWorld();
  await world.job.changeState("up");
  await world.later();
  expect((await world.readOne()).status).toBe("resolved");
  const { status, text, headers } = await world.press(key);
  expect([status, headers.get("Content-Type")]).toEqual([200, "text/xml"]);
  expect(text).toContain("The alert has ended.");
  const page = await world.stranger("GET", world.path.replace("/call", ""));
  expect([page.status, page.text.includes("This link is no longer valid")]).toEqual([404, true]);
});

test.each([
  ["https://status.team.example", "https://status.team.example:443"],
  ["https://status.team.example:8443", "https://status.team.example"],
  ["http://status.team.example", "http://status.team.example:80"],
  ["http://status.team.example:8080", "http://status.team.example"],
])("Twilio can sign %s also as %s", async (publicUrl, signedOrigin) => {
  await using world = await createWorld({ publicUrl });
  const { press, path, readOne } = world;
  for (const origin of ["https://other.team.example", `${publicUrl}1`])
    expect((await press("4", { signedFor: `${origin}${path}` })).status).toBe(404);
  for (const origin of [signedOrigin, publicUrl])
    expect((await press("5", { signedFor: `${origin}${path}` })).status).toBe(200);
  expect((await press("4", { signedFor: `${signedOrigin}${path}` })).status).toBe(200);
  expect((await readOne()).status).toBe("acknowledged");
});

test.each([
  ["Digits=5&b=2&a=1&A=3", "A3Digits5a1b2"],
  ["Digits=5&a=2&a=1&a=2", "Digits5a1a2"],
  ["a%20b=%C3%BC&Digits=5&c=", "Digits5a büc"],
])("Twilio signs the form %s as %s", async (raw, content) => {
  await using world = await createWorld();
  const { stranger, path, url } = world;
  const signature = createHmac("sha1", secret).update(`${url}${content}`).digest("base64");
  const headers = { "Content-Length": String(raw.length), "X-Twilio-Signature": signature };
  expect((await stranger("POST", path, { raw, headers })).status).toBe(200);
});

test("the port of public pages takes keys, too, unless its address is unknown", async () => {
  await using world = await createWorld();
  const { path, readOne, appliance } = world;
  const form = { Digits: "4" };
  const signature = createHmac("sha1", secret)
    .update(`${publicUrl}${path}Digits4`)
    .digest("base64");
  const send = (address?: string) =>
    createPublicLinks(appliance, address).handle(
      new Request(`http://status.team.example${path}`, {
        method: "POST",
        body: new URLSearchParams(form).toString(),
        headers: { "Content-Length": "8", "X-Twilio-Signature": signature },
      }),
    );
  expect((await send()).status).toBe(404);
  expect((await send(publicUrl)).status).toBe(200);
  expect((await readOne()).status).toBe("acknowledged");
});

test("forged, foreign and oversized requests change nothing, and look like an invalid link", async () => {
  await using world = await createWorld();
  const { press, stranger, path, readOne, phone, backup, createWatchedJob, later } = world;
  const job = await createWatchedJob([backup], { name: "Other" });
  await job.changeState("down");
  await later();
  const hookPath = String(backup.alerts().at(-1)?.data.acknowledgeUrl).replace(publicUrl, "");
  const unsigned = { raw: "Digits=4", headers: { "Content-Length": "8" } };
  const attempts = [
    press("4", { key: "wrong" }),
    press("4", { signedFor: `https://evil.example${path}` }),
    press("4", { to: path.replace(/.\/call$/, "_/call") }),
    stranger("POST", path, unsigned),
    // The link of a channel that makes no calls.
    stranger("POST", `${hookPath}/call`, unsigned),
    stranger("POST", path, { raw: "x".repeat(20_000), headers: { "Content-Length": "20000" } }),
  ];
  for (const response of attempts) {
    const { status, text } = await response;
    expect([status, text.includes("This link is no longer valid")]).toEqual([404, true]);
  }
  expect((await stranger("GET", path)).status).toBe(405);
  for (const alert of (await world.readAlerts()) as Json[]) expect(alert.status).toBe("open");
  // A new secret of the channel applies at once.
  await world.changeChannel(phone, { secret: "renewed" });
  expect((await press("4")).status).toBe(404);
  expect((await press("4", { key: "renewed" })).status).toBe(200);
  expect((await readOne()).status).toBeDefined();
});

test("a call that nobody answers runs the next step at once, and the channel still works", async () => {
  await using world = await createWorld();
  const { call, later, backup, phone, press } = world;
  call.status = "no-answer";
  for (let i = 0; i < 3; i++) await later(10);
  expect(backup.listTitles()).toContain("monitor.down Backup");
  const lost = "Twilio reports that nobody answered the call.";
  expect((await world.readDeliveries(phone))[0]).toMatchObject({ status: "failed", error: lost });
  expect(await world.readChannel(phone)).toMatchObject({ lastError: null });
  expect(backup.listTitles().join()).not.toContain("channel.failed");
  // The phone can still acknowledge, because the alert is open.
  expect((await press("4")).text).toContain("Acknowledged.");
});

test("an answered call says so, and without a public URL it takes no key", async () => {
  await using world = await createWorld({ isPublic: false });
  const { call, later, scripts, phone, backup } = world;
  expect(scripts[0]).toContain("Signalbox. Backup is down since");
  expect(scripts[0]).not.toMatch(/Gather|Press 4/);
  call.status = "completed";
  for (let i = 0; i < 3; i++) await later(10);
  expect((await world.readDeliveries(phone))[0]).toMatchObject({
    status: "delivered",
    receipt: "The call was answered.",
  });
  expect(backup.received()).toEqual([]);
});

test("Plivo fetches what a call says, for an hour, and its key acknowledges; without a public URL the call fails", async () => {
  const calls: Json[] = [];
  const exchange: Exchange = (request, context) => {
    if (request.url.hostname !== "api.plivo.com") return real(request, context);
    calls.push(JSON.parse(String(request.body)));
    const body = JSON.stringify({ message: "call fired", request_uuid: "9834029e" });
    return Promise.resolve({ status: 201, headers: new Map(), body });
  };
  for (const isPublic of [true, false]) {
    const world = await createPager({ exchange, ...(isPublic && { publicUrl }) });
    const { stranger, time, later } = world;
    const phone = await world.channel({
      type: "voice",
      name: "Phone",
      preset: "plivo",
      account: "MA1",
      secret,
      from: "+4915112345678",
      to: "+491701234567",
    });
    const job = await world.createWatchedJob([phone], { name: "Shop & Co" });
    await job.changeState("down");
    await later();
    if (!isPublic) {
      const { error } = (await world.readDeliveries(phone))[0];
      expect(error).toContain("Plivo fetches the text of a call");
      expect(calls).toHaveLength(1);
      continue;
    }
    const path = String(calls[0].answer_url).replace(publicUrl, "");
    const { status, text, headers } = await stranger("GET", path);
    expect([status, headers.get("Content-Type")]).toEqual([200, "text/xml"]);
    expect(text).toContain("Shop and Co is down");
    const keyPath = (/action="([^"]+)"/.exec(text)?.[1] ?? "").replace(publicUrl, "");
    const onPublicPort = createPublicLinks(world.appliance, publicUrl).handle(
      new Request(`http://status.team.example${path}`),
    );
    expect(await (await onPublicPort).text()).toBe(text);
    for (const forged of [
      path.replace("v1.", "v2."),
      path.replace(/.(?=.script)/, ""),
      keyPath.replace(/call$/, "script"),
    ])
      expect((await stranger("GET", forged)).status).toBe(404);
    const raw = "CallUUID=9834029e&Digits=4";
    // A proxy can forward the key without announcing its length (RFC 9112, section 7.1).
    const press = { raw, headers: { "Transfer-Encoding": "chunked" } };
    expect((await stranger("POST", keyPath, press)).text).toContain("Acknowledged.");
    expect((await world.readAlerts())[0]).toMatchObject({ status: "acknowledged" });
    time.now += 3_700_000;
    expect((await stranger("GET", path)).status).toBe(404);
  }
});
