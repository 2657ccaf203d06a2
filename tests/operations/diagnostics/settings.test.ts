import { expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, parseConfig } from "../../../src/config.ts";
import { dayMs } from "../../../src/core/time/clock.ts";
import { examineCertificate } from "../../../src/operations/diagnostics/certificate.ts";
import {
  readCertificateExpiry,
  examineLinks,
  examineName,
  examineSettings,
} from "../../../src/operations/diagnostics/settings.ts";
import { testAppliance } from "../../support/appliance.ts";
import { writeSelfSigned } from "../../support/certificates.ts";
import { hasPrograms } from "../../support/real-targets.ts";
import { createScratch } from "../../support/scratch-directories.ts";

const newDirectory = createScratch();

const examineAll = (config: Config, now: number) => [
  ...examineCertificate(readCertificateExpiry(config), now),
  ...examineSettings(config),
];

const buildFindings = (flags: Record<string, unknown>, now = Date.now()) =>
  examineAll(parseConfig(flags, {}), now)
    .filter(({ verdict }) => verdict !== "ok")
    .map(({ verdict, subject, advice }) => [verdict, subject, advice]);

test.each([
  ["nothing", {}],
  ["an http address", { url: "http://box.lan:3210" }],
  ["https behind a proxy", { url: "https://status.lan", trustProxy: ["127.0.0.1"] }],
  ["a network of proxies", { trustProxy: ["10.0.5.0/24", "fd00:5::/48", "unix:"] }],
])("%s is ok", (_what, flags) => {
  expect(buildFindings(flags)).toEqual([]);
});

test("https needs TLS or a trusted proxy", () => {
  expect(buildFindings({ url: "https://status.lan" })).toEqual([
    ["warning", "--url", expect.stringContaining("--trust-proxy 127.0.0.1")],
  ]);
});

test.each([["0.0.0.0/1"], ["64.0.0.0/2"], ["2000::/3"]])(
  "%s is too large for a network of proxies",
  (range) => {
    expect(buildFindings({ trustProxy: ["127.0.0.1", range] })).toEqual([
      ["warning", "--trust-proxy", expect.stringContaining("Name the proxies alone")],
    ]);
  },
);

test.skipIf(!hasPrograms("openssl"))(
  "TLS files are read, and checked for their dates and the host of --url",
  () => {
    const folder = newDirectory();
    const { cert: tlsCert, key: tlsKey } = writeSelfSigned(
      folder,
      "box",
      "DNS:box.lan,IP:10.0.0.5",
    );
    const other = writeSelfSigned(folder, "other", "DNS:other.lan");
    const files = { tlsCert, tlsKey };
    const now = Date.now();
    const expiring = ["warning", "TLS certificate", expect.stringContaining("SIGHUP")];
    expect(buildFindings(files, now - 20 * dayMs)).toEqual([]);
    expect(buildFindings(files, now)).toEqual([expiring]);
    expect(buildFindings(files, now + 3 * dayMs)[0]?.[0]).toBe("problem");
    for (const url of ["https://box.lan", "https://10.0.0.5"])
      expect(buildFindings({ ...files, url }, now - 20 * dayMs)).toEqual([]);
    expect(buildFindings({ ...files, url: "https://else.lan" }, now - 20 * dayMs)).toEqual([
      ["problem", "TLS certificate", expect.stringContaining("correct --url")],
    ]);
    expect(buildFindings({ ...files, url: "http://box.lan" }, now - 20 * dayMs)).toEqual([
      ["warning", "--url", "Write https://."],
    ]);
    const unusable = ["problem", "TLS files", expect.stringContaining("--tls-key")];
    expect(buildFindings({ tlsCert, tlsKey: other.key })).toEqual([unusable]);
    expect(buildFindings({ tlsCert: `${tlsCert}.gone`, tlsKey })).toEqual([unusable]);
    chmodSync(tlsKey, 0o644);
    expect(buildFindings(files)).toEqual([unusable]);
  },
);

test("the metrics token is read", () => {
  const file = join(newDirectory(), "token");
  const unusable = ["problem", "metrics token", expect.stringContaining("openssl rand -hex 32")];
  expect(buildFindings({ metricsTokenFile: file })).toEqual([unusable]);
  writeFileSync(file, "short");
  expect(buildFindings({ metricsTokenFile: file })).toEqual([unusable]);
  writeFileSync(file, "a".repeat(64));
  expect(buildFindings({ metricsTokenFile: file })).toEqual([]);
});

test("the host name of --url leads to this machine, or to a trusted proxy", async () => {
  const readVerdict = async (flags: Record<string, unknown>) =>
    (await examineName(parseConfig(flags, {}))).map((found) => found.verdict);
  expect(await readVerdict({})).toEqual([]);
  expect(await readVerdict({ url: "http://localhost:3210" })).toEqual(["ok"]);
  expect(await readVerdict({ url: "http://192.0.2.7" })).toEqual(["warning"]);
  expect(await readVerdict({ url: "http://192.0.2.7", trustProxy: ["192.0.2.7"] })).toEqual(["ok"]);
});

test("without --url, doctor warns once mails with links are sent", async () => {
  const { ours, store } = await testAppliance();
  const { api } = ours;
  const listFound = async (url?: string) =>
    (await examineLinks(url === undefined ? {} : { url }, store)).map(({ verdict, message }) => [
      verdict,
      message,
    ]);
  const describeLinks = (whom: string) => [
    "warning",
    `not set, so links in mails to ${whom} have the first address of this machine`,
  ];
  expect(await listFound()).toEqual([]);
  const channel = { name: "Ops", type: "email", to: ["ops@team.example"] };
  expect((await api("POST", "/api/v1/alert-channels", { body: channel })).status).toBe(201);
  expect(await listFound()).toEqual([describeLinks("people")]);
  const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
  const body = { type: "webhook", url: "http://bot.lan/x" };
  await api("POST", `/api/v1/status-pages/${page.id}/subscribers`, { body });
  expect(await listFound()).toEqual([describeLinks("subscribers")]);
  expect(await listFound("https://status.team.example")).toEqual([]);
});
