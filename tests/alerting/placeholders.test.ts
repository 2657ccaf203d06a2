import { beforeAll, describe, expect, test } from "bun:test";
import { channelKinds } from "../../src/alerting/channels/kinds-schema.ts";
import { dumpTables } from "../support/appliance.ts";
import { createDashboard } from "../support/dashboard.ts";
import { createPager } from "../support/pager.ts";
import { canary, newChannels } from "../support/samples.ts";
import { startTarget } from "../support/target.ts";

const path = "/api/v1/alert-channels";
const fixed = Object.entries(channelKinds).flatMap(([type, { fields }]) =>
  "template" in fields ? [] : [type],
);
const every =
  "{{monitor}}|{{status}}|{{message}}|{{since}}|{{duration}}|{{latency}}|{{group}}|{{target}}|{{tags}}|{{description}}|{{url}}";

const complete = (type: string) => {
  const { others = {}, secrets = {} } = newChannels[type] ?? {};
  return { type, name: "On-call", ...others, ...secrets };
};

// Each test has channels of its own, and rejected requests change nothing.
let dashboard: Awaited<ReturnType<typeof createDashboard>>;
beforeAll(async () => {
  dashboard = await createDashboard();
});

/** Sends each body with POST, and with PATCH to a channel of its type; both must be rejected. */
async function expectRefused(type: string, named: string, ...refused: object[]) {
  const { id } = await dashboard.channel(complete(type));
  const before = dumpTables(dashboard);
  for (const fields of refused)
    for (const { status, json, text } of [
      await dashboard.api("POST", path, { body: { ...complete(type), ...fields } }),
      // A changed address needs its secrets again; otherwise that is the first error.
      await dashboard.api("PATCH", `${path}/${id}`, {
        body: { ...newChannels[type]?.secrets, ...fields },
      }),
    ]) {
      expect([fields, status, json.error.details?.[0].path]).toEqual([fields, 422, named]);
      expect(text).not.toContain(canary);
    }
  expect(dumpTables(dashboard)).toBe(before);
}

describe("a template", () => {
  for (const type of Object.keys(newChannels).filter((type) => !fixed.includes(type)))
    test(`of ${type} accepts every placeholder that exists, and no other`, async () => {
      const { id } = await dashboard.channel({ ...complete(type), template: every });
      expect((await dashboard.api("GET", `${path}/${id}`)).json.data.template).toBe(every);
      const wrong = ["{{name}}", "{{monitor}} {{ Status }}", "{{}}", "{{monitor.name}}"];
      await expectRefused(type, "template", ...wrong.map((template) => ({ template })));
    });

  for (const type of fixed)
    test(`is rejected for ${type}, whose receivers are programs`, () =>
      expectRefused(type, "template", { template: "{{monitor}}" }));

  test("that is too long or has control characters is rejected", async () => {
    const wrong = ["x".repeat(2_001), "bell \u0007", 7];
    await expectRefused("slack", "template", ...wrong.map((template) => ({ template })));
  });
});

describe("a custom template", () => {
  /** The message of an ntfy channel with this template. */
  async function summarize(template: string | null) {
    const pager = await createPager();
    const server = await startTarget();
    const ntfy = { type: "ntfy", server: server.at(), topic: "alerts", template };
    const channel: { id: string } = await pager.channel(ntfy);
    const buildTexts = () => server.asked.map(({ body }) => JSON.parse(body).message as string);
    return { ...pager, channel, buildTexts, server };
  }

  test("is used for alerts about one monitor", async () => {
    const { channel, buildTexts, server, createWatchedJob, group, later, time } =
      await summarize(every);
    await using _ = server;
    const { id: groupId } = await group({ name: "Nightly" });
    const about = { tags: ["nas", "eu"], description: "Tapes {{url}}" };
    const fields = { groupId, degradedAfterMs: 500, reminderInterval: 600, ...about };
    const backup = await createWatchedJob([channel], fields);
    time.now = Date.parse("2026-11-20T23:02:00.000Z");
    await backup.report({ status: "down", msg: "Disk {{full}} & $& <b>." });
    await later();
    time.now = Date.parse("2026-11-20T23:12:00.000Z");
    await later();
    time.now = Date.parse("2026-11-20T23:14:34.000Z");
    await backup.report({ latency_ms: "1900" });
    await later();
    await backup.report({ latency_ms: "42" });
    await later();
    const url = `http://signalbox.lan:3210/monitors/${backup.id}`;
    const [down, reminder, degraded, up] = buildTexts();
    const since = "2026-11-20 23:02:00 UTC";
    const text = "Disk {{full}} & $& <b>.";
    const context = "Nightly||nas, eu|Tapes {{url}}";
    expect(down).toBe(`Backup|down|${text}|${since}|||${context}|${url}`);
    expect(reminder).toBe(`Backup|still down|${text}|${since}|10 min||${context}|${url}`);
    expect(degraded).toStartWith("Backup|degraded|Answered in 1,900 ms");
    expect(degraded).toContain("|1,900 ms|Nightly|");
    expect(up).toMatch(/^Backup\|up\|.*\|42 ms\|Nightly\|\|nas, eu\|Tapes \{\{url\}\}\|http/);
  });

  test("can have spaces in its placeholders, and several lines", async () => {
    const { channel, buildTexts, server, createWatchedJob, later } = await summarize(
      "{{ monitor }}\nis {{status}}!",
    );
    await using _ = server;
    await (await createWatchedJob([channel])).changeState("down");
    await later();
    expect(buildTexts()).toEqual(["Backup\nis down!"]);
  });

  test("is not used in digests or in alerts of incidents, channels or tests", async () => {
    const { api, channel, buildTexts, server, createWatchedJob, later, inbox } =
      await summarize("MINE {{monitor}}");
    await using _ = server;
    const jobs = await Promise.all(["A", "B"].map((name) => createWatchedJob([channel], { name })));
    for (const job of jobs) await job.changeState("down");
    await later();
    await api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
    await later();
    await api("POST", `${path}/${channel.id}/test`);
    await using gone = await inbox({}, (response) => void response.writeHead(410).end());
    await api("POST", "/api/v1/incidents", { body: { title: "Slower" } });
    await later();
    await later();
    expect(gone.asked).toHaveLength(1);
    expect(buildTexts().length).toBe(5);
    expect(buildTexts().join("\n")).not.toContain("MINE");
    await jobs[0]?.changeState("up");
    await later();
    expect(buildTexts().at(-1)).toBe("MINE A");
  });
});

describe("rejected with the field:", () => {
  const notOfTheWeb = [
    "ftp://bot.lan",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "bot.lan/hook",
    "//bot.lan",
    "http://",
    `http://user:${canary}@bot.lan`,
    "http://bot.lan:0",
    "http://bot.lan\r\nX-Evil: 1",
  ];
  const blocked = [
    "http://169.254.169.254/latest/meta-data",
    "http://127.0.0.1:3210/api/v1/monitors",
    "http://[::1]:3210",
    "http://0.0.0.0",
    "http://[::ffff:169.254.169.254]",
    "http://2852039166",
    "http://0xa9fea9fe",
    "http://[fe80::1]",
    "http://224.0.0.1",
  ];
  const fields: [string, string][] = [
    ["webhook", "url"],
    ["ntfy", "server"],
    ["gotify", "server"],
    ["apprise", "server"],
    ...["slack", "discord", "teams", "mattermost", "googlechat"].map((type): [string, string] => [
      type,
      "webhookUrl",
    ]),
  ];
  for (const [type, field] of fields) {
    test(`${type} with a ${field} that is not http or https`, async () => {
      await expectRefused(type, field, ...notOfTheWeb.map((url) => ({ [field]: url })));
    });
    test(`${type} with a ${field} at a blocked address`, async () => {
      await expectRefused(type, field, ...blocked.map((url) => ({ [field]: url })));
    });
  }

  test("an e-mail address without a domain, or one that adds headers", async () => {
    const wrong = ["oncall", "oncall@", "@team.example", "a@b.example\r\nBcc: c@d.example"];
    const refused = wrong.map((to) => ({ to: ["ok@team.example", to] }));
    await expectRefused("email", "to[1]", ...refused);
    await expectRefused("email", "to", { to: [] });
  });

  for (const [type, { secrets, optional = [] }] of Object.entries(newChannels))
    for (const name of Object.keys(secrets))
      if (!optional.includes(name))
        test(`${type} without its ${name}, or with an empty one`, async () => {
          const dashboard = await createDashboard();
          const before = dumpTables(dashboard);
          for (const value of [undefined, null, "", "a\nb"]) {
            const body = { ...complete(type), [name]: value };
            const { status, json } = await dashboard.api("POST", path, { body });
            expect([status, json.error.details[0].path]).toEqual([422, name]);
          }
          expect(dumpTables(dashboard)).toBe(before);
        });

  for (const secret of [
    "whsec_",
    "whsec_???",
    "whsec_AA=A",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw!",
    "whsec_AAAAA",
  ])
    test(`a signing secret that is not Base64: ${secret}`, () =>
      expectRefused("webhook", "secret", { secret }));
});
