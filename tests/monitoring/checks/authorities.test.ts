import { X509Certificate } from "node:crypto";
import { expect, test } from "bun:test";
import { testAppliance } from "../../support/appliance.ts";
import { getAuthority } from "../../support/fakes/start-fake.ts";
import { defineTestWith } from "../../support/real-targets.ts";
import { clientCertificate, clientKey } from "../../support/samples.ts";
import { startSecureListener } from "../../support/secure-listener.ts";
import { signInMember } from "../../support/people.ts";

const path = "/api/v1/settings";
const buildAuthorities = (body: unknown) => ({ body: { certificateAuthorities: body } });

defineTestWith(
  ["openssl"],
  "an organization's trusted authorities apply to its next check, and to no other organization",
  async () => {
    const appliance = await testAppliance();
    await using server = await startSecureListener("good");
    const monitor = { type: "tls", name: "Shop", host: "localhost", port: server.port };
    const findOutcome = async ({ api }: typeof appliance.ours) => {
      const { json } = await api("POST", "/api/v1/monitors", { body: monitor });
      const at = `/api/v1/monitors/${json.data.id}/check`;
      return async () => (await api("POST", at)).json.data.status as string;
    };
    const ours = await findOutcome(appliance.ours);
    const theirs = await findOutcome(appliance.theirs);
    const checkBoth = async () => [await ours(), await theirs()];
    expect(await checkBoth()).toEqual(["down", "down"]);
    const set = (pem: string | null) => appliance.ours.api("PATCH", path, buildAuthorities(pem));
    // With a second authority, and without line breaks.
    const { json } = await set(clientCertificate + server.authority.replaceAll("\n", " "));
    expect(json.data.certificateAuthorities).toBe(clientCertificate + server.authority);
    expect(await checkBoth()).toEqual(["up", "down"]);
    await appliance.ours.api("PATCH", path, { body: { smtp: null } });
    expect(await checkBoth()).toEqual(["up", "down"]);
    const { page } = await signInMember(appliance, "member");
    const tried = await page("POST", "/dashboard/monitors/try", { body: monitor });
    expect(tried.json.data.status).toBe("up");
    await set(null);
    expect(await checkBoth()).toEqual(["down", "down"]);
  },
);

test("an invalid certificate is rejected as an authority", async () => {
  const { ours } = await testAppliance();
  const readRejection = async (pem: unknown) => {
    const { status, json } = await ours.api("PATCH", path, buildAuthorities(pem));
    return [status, json.error?.details?.[0]?.path, json.error?.details?.[0]?.message];
  };
  const field = "certificateAuthorities";
  for (const pem of ["", "CA", clientKey, `${clientCertificate}rest`])
    expect(await readRejection(pem)).toEqual([422, field, "must be a certificate in PEM"]);
  const broken = clientCertificate.replace("MII", "AAA");
  expect(await readRejection(broken)).toEqual([
    422,
    field,
    "can't be read: it is not a certificate",
  ]);
  expect(await readRejection(clientCertificate + broken)).toEqual([
    422,
    field,
    "has a block, number 2, that can't be read: it is not a certificate",
  ]);
  expect((await ours.api("GET", path)).json.data.certificateAuthorities).toBe(null);
});

defineTestWith(
  ["openssl"],
  "a client certificate is saved only with its matching key",
  async () => {
    const { ours } = await testAppliance();
    const http = { type: "http", url: "https://shop.lan/", clientCertificate, clientKey };
    const docker = { type: "docker", host: "docker.lan", container: "shop", clientCertificate };
    const create = async (monitor: object) => {
      const { status, json } = await ours.api("POST", "/api/v1/monitors", {
        body: { name: "Shop", ...monitor },
      });
      return [status, json.error?.details?.[0]?.path ?? null];
    };
    expect(await create(http)).toEqual([201, null]);
    expect(await create({ ...docker, clientKey })).toEqual([201, null]);
    const other = getAuthority();
    for (const one of [http, docker]) {
      const part = { ...one, clientKey };
      expect(await create({ ...part, clientCertificate: other })).toEqual([422, "clientKey"]);
      const broken = { clientCertificate: clientCertificate.replace("MII", "AAA") };
      expect(await create({ ...part, ...broken })).toEqual([422, "clientCertificate"]);
      expect(await create({ ...part, clientKey: clientKey.replace("MIG", "AAA") })).toEqual([
        422,
        "clientKey",
      ]);
    }
    expect(await create({ ...http, clientKey: null })).toEqual([422, "clientKey"]);
    expect(await create({ ...http, clientCertificate: null })).toEqual([422, "clientCertificate"]);
  },
);

test("the page shows the name and expiry of each certificate to administrators only", async () => {
  const appliance = await testAppliance();
  const at = "/dashboard/settings/certificate-authorities";
  const admin = await signInMember(appliance, "admin");
  expect((await admin.page("GET", at)).json.data).toEqual([]);
  await appliance.ours.api("PATCH", path, buildAuthorities(clientCertificate + clientCertificate));
  const [one, ...others] = (await admin.page("GET", at)).json.data;
  const { subject, validTo } = new X509Certificate(clientCertificate);
  expect(others).toEqual([one]);
  expect(`CN=${one.name}`).toBe(subject);
  expect(Date.parse(one.expiresAt)).toBe(Date.parse(validTo));
  expect(one.pem).toBe(clientCertificate.trim());
  expect((await (await signInMember(appliance, "member")).page("GET", at)).status).toBe(403);
});
