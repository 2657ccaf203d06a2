import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { NewAlertChannel } from "../src/alerting/channels/schema.ts";
import { channelKinds } from "../src/alerting/channels/kinds-schema.ts";
import { findChannel, settingsOf } from "../src/alerting/channels/service.ts";
import { findStrandedSecrets } from "../src/core/security/kind-secrets.ts";
import type { Kinds } from "../src/core/kinds.ts";
import { formatFieldPath } from "../src/core/text/formatting.ts";
import type { Plan } from "../src/imports/plan.ts";
import { runImport } from "../src/imports/service.ts";
import { monitorKinds } from "../src/monitoring/monitors/kinds-schema.ts";
import { openSettings } from "../src/monitoring/monitors/record.ts";
import { ManyMonitors } from "../src/monitoring/monitors/bulk-schema.ts";
import { NewMonitor } from "../src/monitoring/monitors/schema.ts";
import { findMonitor } from "../src/monitoring/monitors/store.ts";
import { addOrganization, testAppliance, type TestAppliance } from "./support/appliance.ts";
import { getFreePort } from "./support/binary.ts";
import { canary, clientKey, signingCanary } from "./support/samples.ts";
import { listChannelHomes, listMonitorHomes } from "./support/secret-homes.ts";
import { signInMember } from "./support/people.ts";

/*
 * For every writer of stored records and every type with a secret: the secret never gets another
 * address, and a listener there never receives it.
 */

type Own = Record<string, unknown>;
type Case = { noun: "monitors" | "alert-channels"; type: string; variant: number };

const nouns = {
  monitors: { kinds: monitorKinds as Kinds, schema: NewMonitor, section: "monitors", name: "Shop" },
  "alert-channels": {
    kinds: channelKinds as Kinds,
    schema: NewAlertChannel,
    section: "alertChannels",
    name: "On-call",
  },
} as const;
const home = { host: "127.0.0.1", port: 9 };

const homesOf = ({ noun, type }: Omit<Case, "variant">): Own[] =>
  noun === "monitors" ? listMonitorHomes(type, home.host, home.port) : listChannelHomes(type);

const spellings = [
  canary,
  signingCanary,
  Buffer.from(`probe:${canary}`).toString("base64"),
  clientKey.split("\n")[1] ?? "",
];
const isSecret = (text: string) => spellings.some((one) => text.includes(one));

const cases = (Object.keys(nouns) as Case["noun"][]).flatMap((noun) =>
  Object.entries(nouns[noun].kinds)
    .filter(([, { secrets }]) =>
      Object.values(secrets).some((destination) => Object.keys(destination).length > 0),
    )
    .flatMap(([type]) =>
      homesOf({ noun, type }).flatMap((own, variant): Case[] =>
        isSecret(JSON.stringify(own)) ? [{ noun, type, variant }] : [],
      ),
    ),
);

/** A listener that records every byte, over TCP and UDP, and closes each connection. */
async function startSink() {
  const receivedSecrets: string[] = [];
  const hear = (bytes: Uint8Array) =>
    void receivedSecrets.push(Buffer.from(bytes).toString("latin1"));
  const port = getFreePort();
  const tcp = Bun.listen({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(socket, bytes) {
        hear(bytes);
        socket.end();
      },
      // Some protocols wait for a greeting.
      open: (socket) => void socket.write("220 ready\r\n"),
    },
  });
  const udp = await Bun.udpSocket({
    hostname: "127.0.0.1",
    port,
    socket: { data: (_socket, bytes) => hear(bytes) },
  });
  return {
    heard: receivedSecrets,
    host: "localhost",
    port,
    [Symbol.dispose]() {
      tcp.stop(true);
      udp.close();
    },
  };
}

/** Changes of each field that decides where a secret is sent: to the sink, or to less protection. */
function listMoves({ noun, type }: Case, own: Own, { host, port }: { host: string; port: number }) {
  const { kinds, schema } = nouns[noun];
  const names = Object.values(kinds[type]?.secrets ?? {}).flatMap((where) => Object.keys(where));
  const url = `http://${host}:${port}/`;
  const steps = [[{ url, headers: { "X-Key": "{{token}}" } }], ["fill #other with {{password}}"]];
  const values = [
    url,
    url.replace("http:", "ws:"),
    host,
    port,
    ...steps,
    false,
    "none",
    "plain",
    "us",
  ];
  return [...new Set(names)].flatMap((name) => {
    const value = values.find((candidate) => {
      const change = { [name]: candidate };
      return (
        schema.safeParse({ type, name: "x", ...own, ...change }).success &&
        findStrandedSecrets(kinds, type, { ...own, type }, change).length > 0
      );
    });
    return value === undefined ? [] : [{ [name]: value }];
  });
}

const createPlan = ({ noun }: Case, fields: Own): Plan => ({
  source: "other-tool",
  product: "Other tool",
  records: [
    {
      noun: noun === "monitors" ? "monitor" : "alert-channel",
      externalId: "1",
      name: nouns[noun].name,
      fields,
      links: {},
      notes: [],
    },
  ],
  notTaken: [],
  hints: [],
  smtp: null,
});

/** Another program's values: its own secrets, or none. */
function listSources({ noun, type }: Case, record: Own): Own[] {
  const usual = noun === "monitors" ? { ...record, timeout: 1 } : record;
  const others = JSON.stringify(usual)
    .replaceAll(signingCanary, `whsec_${"B".repeat(32)}`)
    .replaceAll(canary, "other-value");
  const { kinds, schema } = nouns[noun];
  const fields = Object.keys(kinds[type]?.secrets ?? {}).map((path) => path.split(".")[0] ?? "");
  const withoutFields = Object.fromEntries(
    Object.entries(usual).filter(([name]) => !fields.includes(name)),
  );
  // A key pair has no other valid value.
  const { clientKey: _key, clientCertificate: _certificate, ...own } = JSON.parse(others) as Own;
  return [own, withoutFields].filter((source) => schema.safeParse(source).success);
}

const isToSink = (move: Own, { host, port }: { host: string; port: number }) =>
  [host, String(port)].some((part) => JSON.stringify(move).includes(part));

async function readSecrets({ ours }: Pick<TestAppliance, "ours">, { noun }: Case, id: string) {
  if (noun === "alert-channels") {
    const row = await findChannel(ours.scope, id);
    return JSON.stringify(row && settingsOf(ours.scope.vault, row));
  }
  const found = await findMonitor(ours.scope, id);
  return JSON.stringify(found && openSettings(ours.scope.vault, found.monitor));
}

describe("a stored secret gets no other address", () => {
  test.each(cases)("of $noun: $type, $variant, by any writer", async (one) => {
    using listener = await startSink();
    const sent: string[] = [];
    const appliance = await testAppliance({
      exchange: async ({ url, headers, body }) => {
        sent.push(`${url.origin} ${JSON.stringify([url.href, headers, body])}`);
        return { status: 200, headers: new Map(), body: "ok" };
      },
    });
    const { kinds, section, name } = nouns[one.noun];
    const { api } = appliance.ours;
    const admin = await signInMember(appliance, "admin");
    const homesOfVariant = homesOf(one)[one.variant] ?? {};
    const moves = listMoves(one, homesOfVariant, listener);
    expect(moves.length).toBeGreaterThan(0);
    const record = { type: one.type, name, ...homesOfVariant };
    const buildEntry = (fields: Own) => ({ source: "files", [section]: { it: fields } });
    const result = await api("PUT", "/api/v1/config", { body: buildEntry(record) });
    expect([result.status, result.text]).toEqual([200, expect.any(String)]);
    const [{ id }] = (await api("GET", `/api/v1/${one.noun}`)).json.data;
    const fieldsHere = await readSecrets(appliance, one, id);

    for (const move of moves) {
      const stranded = findStrandedSecrets(kinds, one.type, record, move);
      const paths = stranded.map(formatFieldPath).toSorted();
      const without = Object.fromEntries(
        Object.entries({ ...record, ...move }).filter(
          ([field]) => !stranded.some(([secret]) => secret === field),
        ),
      );
      const writers: Record<string, () => ReturnType<typeof api>> = {
        patch: () => api("PATCH", `/api/v1/${one.noun}/${id}`, { body: move }),
        "page, patch": () =>
          admin.page("PATCH", `/dashboard/api/v1/${one.noun}/${id}`, { body: move }),
        "page, test of unsaved values": () => {
          appliance.time.now += 60_000;
          return admin.page("POST", `/dashboard/${one.noun}/${id}/try`, { body: move });
        },
        "configuration, dry run": () =>
          api("PUT", "/api/v1/config?dryRun", {
            body: buildEntry({ ...without, ...readStored(homesOfVariant, stranded) }),
          }),
        configuration: () =>
          api("PUT", "/api/v1/config", {
            body: buildEntry({ ...without, ...readStored(homesOfVariant, stranded) }),
          }),
      };
      for (const [writer, write] of Object.entries(writers)) {
        const { status, json } = await write();
        const requests = ((json.error?.details ?? []) as { path: string }[]).map(({ path }) =>
          path.replace(`${section}.it.`, ""),
        );
        expect([writer, move, status, requests.toSorted()]).toEqual([writer, move, 422, paths]);
      }
      expect(await readSecrets(appliance, one, id)).toBe(fieldsHere);
    }

    for (const move of moves)
      for (const source of listSources(one, record)) {
        const other = { ours: await addOrganization(appliance.appliance, appliance.app, "Other") };
        const theirs = await importWith(other, one, source);
        const secrets = pickSecrets(one, homesOfVariant);
        const path = `/api/v1/${one.noun}/${theirs.id}`;
        const entered = await other.ours.api("PATCH", path, { body: secrets });
        expect([entered.status, entered.json.error]).toEqual([200, undefined]);
        expect(isSecret(await readSecrets(other, one, theirs.id))).toBe(true);
        const again = await importWith(other, one, { ...source, ...move });
        const stranded = findStrandedSecrets(kinds, one.type, record, move);
        for (const keys of stranded)
          expect([move, again.notes]).toEqual([
            move,
            expect.arrayContaining([
              expect.stringMatching(RegExp(`, so ${formatFieldPath(keys)} .* Enter it again\\.`)),
            ]),
          ]);
        const left = JSON.parse(await readSecrets(other, one, theirs.id)) as Own;
        for (const [field = "", inner] of stranded) {
          const value = inner === undefined ? left[field] : (left[field] as Own | null)?.[inner];
          expect([move, field, isSecret(String(value))]).toEqual([move, field, false]);
        }
        if (one.noun === "monitors" && isToSink(move, listener))
          await other.ours.api("POST", `/api/v1/monitors/${theirs.id}/check`);
      }
    expect(listener.heard.filter(isSecret)).toEqual([]);
    expect(sent.filter((text) => text.startsWith(`http://${listener.host}`))).toEqual([]);
  });

  test("in a bulk change of monitors: none of its fields affects where a secret goes", () => {
    const { properties } = z.toJSONSchema(ManyMonitors.shape.change, { io: "input" }) as {
      properties: object;
    };
    const names = Object.keys(properties);
    expect(names.length).toBeGreaterThan(3);
    const decisive = Object.values(monitorKinds as Kinds).flatMap(({ secrets }) =>
      Object.values(secrets).flatMap((destination) => Object.keys(destination)),
    );
    expect(names.filter((name) => decisive.includes(name))).toEqual([]);
  });
});

/** The fields of a configuration, with null for each secret. */
function readStored(own: Own, stranded: string[][]): Own {
  const result: Own = {};
  for (const [field = "", inner] of stranded) {
    if (inner === undefined) continue;
    result[field] = { ...(own[field] as Own), ...(result[field] as Own | undefined) };
    const holder = result[field] as Own;
    if (field === "headers" || field === "variables") holder[inner] = null;
    else delete holder[inner];
  }
  return result;
}

/** The secrets of a record, as their owner enters them, with the certificate of a key. */
function pickSecrets({ noun, type }: Case, own: Own): Own {
  const paths = Object.keys(nouns[noun].kinds[type]?.secrets ?? {});
  const fields = ["clientCertificate", ...paths.map((path) => path.split(".")[0])];
  return Object.fromEntries(Object.entries(own).filter(([name]) => fields.includes(name)));
}

async function importWith({ ours }: Pick<TestAppliance, "ours">, one: Case, fields: Own) {
  const { report } = await runImport(ours.scope, createPlan(one, fields), null, {
    keepResults: 14,
    keepHours: 400,
  });
  const [{ id }] = (await ours.api("GET", `/api/v1/${one.noun}`)).json.data;
  return { id: String(id), notes: report.items.flatMap(({ notes }) => notes) };
}
