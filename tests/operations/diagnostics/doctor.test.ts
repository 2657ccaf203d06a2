import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOrganization } from "../../../src/accounts/organizations/service.ts";
import { updateSettings } from "../../../src/accounts/settings/service.ts";
import { SettingsPatch } from "../../../src/accounts/settings/schema.ts";
import { channelKinds, type ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import { NewAlertChannel } from "../../../src/alerting/channels/schema.ts";
import { createAlertChannel, settingsOf } from "../../../src/alerting/channels/service.ts";
import type { Provider } from "../../../src/alerting/provider.ts";
import { providers } from "../../../src/alerting/providers.ts";
import { createCommandLineScope } from "../../../src/cli/support/with-data.ts";
import { parseConfig } from "../../../src/config.ts";
import { readSystemClock } from "../../../src/core/time/clock.ts";
import { type Finding, createOkFinding } from "../../../src/core/finding.ts";
import { createAccessTokenCache } from "../../../src/core/outgoing/access-tokens.ts";
import { createTargetGuard } from "../../../src/core/security/target-guard.ts";
import {
  type DataDirectory,
  openDataDirectory,
} from "../../../src/database/file/data-directory.ts";
import { alertChannels } from "../../../src/database/tables/alerting.ts";
import {
  findDestinations,
  formatOrigin,
} from "../../../src/operations/diagnostics/destinations.ts";
import { type Report, runDiagnostics } from "../../../src/operations/diagnostics/diagnostic.ts";
import { examineAppliance } from "../../../src/operations/diagnostics/doctor.ts";
import { formatReport } from "../../../src/operations/diagnostics/report.ts";
import { createAlert, createMessage } from "../../support/alert-receiver.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { canary, newChannels, signingCanary } from "../../support/samples.ts";
import { startTarget } from "../../support/target.ts";
import { getBuiltMigrations } from "../../support/migration-folder.ts";

let path: string;
let data: DataDirectory;
let report: Report;
let requests: string[];
let mailed: number;

const types = Object.keys(channelKinds) as ChannelType[];
const withoutHost: readonly ChannelType[] = ["email"];

beforeAll(async () => {
  path = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  data = openDataDirectory(path, { migrations: getBuiltMigrations(), clock: readSystemClock });
  await using mail = await startMailServer({ users: { jo: canary } }, { allowInsecureAuth: true });
  await using site = await startTarget();
  const { id } = await createOrganization(data.store, readSystemClock, "Acme");
  const scope = createCommandLineScope(data, id);
  const mine = { type: "webhook", name: "Bot", url: site.at(`/hooks/${canary}?token=${canary}`) };
  await createAlertChannel(scope, NewAlertChannel.parse(mine));
  for (const type of types)
    for (const { secrets, others } of listHomes(type))
      await createAlertChannel(
        scope,
        NewAlertChannel.parse({ type, name: `The ${type}`, ...others, ...secrets }),
      );
  const { host, port } = mail.smtp();
  const smtp = { host, port, user: "jo", password: canary, tls: "none", from: "a@team.example" };
  await updateSettings(scope, SettingsPatch.parse({ smtp }));
  const settings = parseConfig(
    // All names of this test are denied, so that no request leaves the machine.
    { dataDir: path, port: "0", denyTarget: ["*.lan", "*.example", "*.com"] },
    {},
  );
  report = await examineAppliance(settings, {
    migrations: getBuiltMigrations(),
    clock: readSystemClock,
    ntp: "127.0.0.1:1",
  });
  mailed = mail.mails.length;
  requests = site.asked.map(({ path }) => path);
});

afterAll(() => {
  data.close();
  rmSync(path, { recursive: true });
});

function listHomes(type: ChannelType) {
  const { secrets = {}, others = {}, instead } = newChannels[type] ?? {};
  return [{ secrets, others }, ...(instead === undefined ? [] : [instead])];
}

const filterArea = (area: string) => report.filter((finding) => finding.area === area) as Finding[];

describe("each type of channel", () => {
  test.each(types)("%s has its host examined, or needs none", async (type) => {
    const rows = (await data.store.db.select().from(alertChannels)).filter(
      (row) => row.type === type,
    );
    const origins: string[] = [];
    /** Hosts and ports of connections that are no HTTP requests. */
    const dialed: string[] = [];
    for (const row of rows)
      await (providers[type] as Provider<ChannelType>)
        .deliver(settingsOf(data.vault, row) as never, createMessage(createAlert("monitor.down")), {
          now: 0,
          targets: createTargetGuard(() => []),
          timeoutMs: 1,
          signal: new AbortController().signal,
          smtp: null,
          accessTokens: createAccessTokenCache(),
          vapid: null,
          progress: null,
          messageTo: null,
          async addressesOf(host, port) {
            dialed.push(`${host}:${port}`);
            return [];
          },
          exchange: async ({ url }) => {
            origins.push(url.origin);
            return { status: 200, headers: new Map(), body: "ok" };
          },
        })
        // Other protocols find no address.
        .catch(() => {});
    // The examined hosts are exactly the hosts that deliveries connect to.
    const { hosts } = await findDestinations(data.store, data.vault);
    const examined = hosts.filter(({ channels }) =>
      channels.some((name) => name.includes(`“The ${type}”`)),
    );
    const hostsOf = examined.map(({ origin }) => formatOrigin(origin));
    if (dialed.length > 0)
      return expect(new Set(examined.map(({ origin }) => origin.host))).toEqual(new Set(dialed));
    if (type !== "webhook") expect(new Set(hostsOf)).toEqual(new Set(origins));
    expect(origins.length === 0).toBe(withoutHost.includes(type));
    for (const origin of origins)
      expect(filterArea("Alert channels").map(({ subject }) => subject)).toContain(origin);
  });
});

describe("diagnostics", () => {
  const createDiagnostic = (examine: () => Promise<Finding[]>, id = "x") => ({
    area: "Data" as const,
    id,
    examine,
  });

  test("run eight at once at most, and stay in order", async () => {
    let [open, most] = [0, 0];
    const several = Array.from({ length: 30 }, (_, index) =>
      createDiagnostic(async () => {
        most = Math.max(most, ++open);
        await Bun.sleep((30 - index) % 3);
        open--;
        return [createOkFinding(String(index), "")];
      }),
    );
    const found = await runDiagnostics(several, null);
    expect(found.map(({ subject }) => Number(subject))).toEqual([...several.keys()]);
    expect(most).toBe(8);
  });

  test("that time out are skipped, and a failing one does not stop the others", async () => {
    const works = createDiagnostic(async () => [createOkFinding("works", "")], "late");
    expect(await runDiagnostics([works], null, 0)).toMatchObject([
      { subject: "late", verdict: "skipped" },
    ]);
    const fails = createDiagnostic(() => Promise.reject(new Error(canary)), "broken");
    const found = await runDiagnostics([fails, works], null);
    expect(found.map(({ subject, verdict }) => [subject, verdict])).toEqual([
      ["broken", "problem"],
      ["works", "ok"],
    ]);
    expect(JSON.stringify(found)).not.toContain(canary);
  });
});

test("a denied host is reported with its setting; a host that responds is ok", () => {
  const slack = filterArea("Alert channels").find(
    ({ subject }) => subject === "https://chat.example",
  );
  expect(slack).toMatchObject({
    verdict: "problem",
    advice: "Change --deny-target, or name another host.",
  });
  const others = Object.values(newChannels).filter(
    ({ secrets }) => secrets["webhookUrl"] === newChannels["slack"]?.secrets["webhookUrl"],
  );
  expect(slack?.message).toContain(`and ${others.length - 2} others`);
  expect(filterArea("Alert channels").filter(({ verdict }) => verdict === "ok")).toMatchObject([
    { message: "takes connections, for Webhook “Bot” of Acme" },
  ]);
});

test("the mail server accepts the credentials, and gets no mail", () => {
  expect(filterArea("Mail")).toMatchObject([
    { verdict: "ok", message: expect.stringContaining("accepts the user and the credentials") },
  ]);
  expect(mailed).toBe(0);
});

test("a web server is only asked for its date, if no time server answers", () => {
  expect(new Set(requests)).toEqual(new Set(["/"]));
});

test("the report contains no secret", () => {
  const written = JSON.stringify(report) + formatReport(report);
  expect(written).toContain("chat.example");
  expect([written.includes(canary), written.includes(signingCanary)]).toEqual([false, false]);
});

test("every finding has a next step, and an ok result has none", () => {
  const wrong = report.filter(
    ({ verdict, advice }) => verdict !== "skipped" && (verdict === "ok") !== (advice === null),
  );
  expect(wrong).toEqual([]);
});
