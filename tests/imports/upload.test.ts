import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testAppliance } from "../support/appliance.ts";
import { writeSelfSigned } from "../support/certificates.ts";
import { inflateFixture } from "../support/kuma-fixtures.ts";
import type { Json } from "../support/json.ts";
import { createScratch } from "../support/scratch-directories.ts";
import { signInMember } from "../support/people.ts";

const newDirectory = createScratch();
const partBytes = 200_000;

async function setUpWorld() {
  const uploadsIn = newDirectory();
  const appliance = await testAppliance({ uploadsIn });
  appliance.time.now = Date.parse("2026-11-22T06:00:00.000Z");
  const admin = await signInMember(appliance, "admin");
  const listUploads = () => readdirSync(join(uploadsIn, "uploads"));

  async function begin(size: number) {
    const body = { name: "kuma.db", size };
    return admin.page("POST", "/dashboard/imports/uploads", { body });
  }

  async function readPart(id: string, offset: number, bytes: Uint8Array<ArrayBuffer>) {
    const request = new Request(
      `http://localhost/dashboard/imports/uploads/${id}?offset=${offset}`,
      {
        method: "PUT",
        headers: {
          Host: "localhost",
          Origin: "http://localhost",
          Cookie: admin.cookie,
          "Content-Type": "application/octet-stream",
          "Content-Length": String(bytes.length),
        },
        body: bytes,
      },
    );
    const response = await appliance.app.handle(request);
    return { status: response.status, json: (await response.json()) as Json };
  }

  /** Sends a file like the page does. */
  async function readSent(file: string): Promise<string> {
    const bytes = new Uint8Array(readFileSync(file));
    const { id } = (await begin(bytes.length)).json.data;
    for (let offset = 0; offset < bytes.length; offset += partBytes) {
      const { status, json } = await readPart(id, offset, bytes.slice(offset, offset + partBytes));
      expect([status, json.data?.received]).toEqual([
        200,
        Math.min(offset + partBytes, bytes.length),
      ]);
    }
    return id;
  }

  return { ...appliance, admin, begin, readPart, readSent, listUploads };
}

describe("an upload", () => {
  test("can be previewed, imported in part and undone", async () => {
    const { admin, ours, readSent, listUploads } = await setUpWorld();
    const id = await readSent(inflateFixture("kuma-2-acme.db"));
    const source = "uptime-kuma";
    const preview = await admin.page("POST", `/dashboard/imports/uploads/${id}/preview`, {
      body: { source },
    });
    expect(preview.json.data.items.length).toBeGreaterThan(80);
    expect((await ours.api("GET", "/api/v1/monitors")).json.meta.total).toBe(0);
    const only = ["monitor:6", "monitor:33", "group:2", "alert-channel:1"];
    const result = await admin.page("POST", `/dashboard/imports/uploads/${id}/import`, {
      body: { source, only },
    });
    expect(result.json.data).toMatchObject({
      status: "done",
      actorName: "admin",
      report: { history: { days: expect.any(Number) } },
    });
    const names = (await ours.api("GET", "/api/v1/monitors")).json.data.map(
      ({ name }: { name: string }) => name,
    );
    expect(names.toSorted()).toEqual(["Acme website", "Nightly backup (push)"]);
    expect(listUploads()).toEqual([]);
    const [run] = (await admin.page("GET", "/dashboard/imports")).json.data;
    const undone = await admin.page("POST", `/dashboard/imports/${run.id}/undo`);
    expect(undone.json.data.status).toBe("undone");
    expect((await ours.api("GET", "/api/v1/monitors")).json.meta.total).toBe(0);
  });

  test("must be complete, in order, and from the same organization", async () => {
    const { admin, begin, readPart } = await setUpWorld();
    const { id } = (await begin(10)).json.data;
    const body = { source: "uptime-kuma" };
    expect(
      (await admin.page("POST", `/dashboard/imports/uploads/${id}/preview`, { body })).status,
    ).toBe(409);
    expect((await readPart(id, 5, new Uint8Array(5))).status).toBe(409);
    expect((await readPart(id, 0, new Uint8Array(11))).status).toBe(409);
    expect((await readPart(id, 0, new Uint8Array(10))).status).toBe(200);
    expect((await readPart("other", 0, new Uint8Array(10))).status).toBe(404);
    const preview = await admin.page("POST", `/dashboard/imports/uploads/${id}/preview`, { body });
    expect([preview.status, preview.json.error.message]).toEqual([
      400,
      expect.stringContaining("Nothing was changed"),
    ]);
    const another = (await begin(10)).json.data;
    expect(another.id).not.toBe(id);
    expect((await readPart(id, 0, new Uint8Array(1))).status).toBe(404);
  });

  test("is removed by the next upload after an hour without a part", async () => {
    const { begin, listUploads, time } = await setUpWorld();
    await begin(10);
    expect(listUploads()).toHaveLength(1);
    time.now += 2 * 3_600_000;
    await begin(20);
    expect(listUploads()).toHaveLength(1);
  });
});

describe("an uploaded Gatus configuration", () => {
  const source = "gatus";

  async function previewOf(yaml: string) {
    const { admin, readSent } = await setUpWorld();
    const folder = newDirectory();
    const file = join(folder, "config.yaml");
    writeFileSync(file, yaml);
    const id = await readSent(file);
    return admin.page("POST", `/dashboard/imports/uploads/${id}/preview`, { body: { source } });
  }

  test("reads neither files nor variables of this machine", async () => {
    const files = writeSelfSigned(newDirectory(), "client", "DNS:client.example");
    const { status, json } = await previewOf(`
endpoints:
  - name: shop
    url: https://\${PATH}.example
    client: {tls: {certificate-file: ${files.cert}, private-key-file: ${files.key}}}
`);
    expect(status).toBe(200);
    const [shop] = json.data.items;
    expect(shop).toMatchObject({ name: "shop", isIncomplete: true });
    expect(shop.notes[0]).toContain("can't be read here. Enter the client certificate");
    expect(json.data.hints[0]).toStartWith("These variables are not set: PATH.");
  });

  test("is named as its sender knows it, with the line of the error", async () => {
    const { status, json } = await previewOf("endpoints:\n  - name: a\n\turl: b\n");
    expect([status, json.error.message]).toEqual([
      400,
      expect.stringMatching(/^kuma\.db can't be imported: it is not YAML \(kuma\.db:3:1: /),
    ]);
  });
});
