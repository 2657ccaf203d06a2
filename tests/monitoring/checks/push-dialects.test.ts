import { describe, expect, test } from "bun:test";
import { pushRoutes } from "../../../src/monitoring/checks/push.ts";
import { dumpTables, type Options } from "../../support/appliance.ts";
import { createWatch } from "../../support/check-board.ts";

type Fields = Record<string, string>;
type Sent = { query?: string; options?: Options };

const formType = "application/x-www-form-urlencoded";
const boundary = "----boundary1234";
const buildForm = (fields: Fields) => new URLSearchParams(fields).toString();
const buildMultipart = (fields: Fields) =>
  Object.entries(fields)
    .map(
      ([name, value]) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    .join("") + `--${boundary}--\r\n`;
const buildBody = (raw: Options["raw"], type: string): Sent => ({
  options: { raw: raw!, headers: { "Content-Type": type } },
});

/** Every way to send the fields of a report. */
const encodings: Record<string, (fields: Fields) => Sent> = {
  "a query": (fields) => ({ query: buildForm(fields) }),
  "a form": (fields) => buildBody(buildForm(fields), formType),
  "a form with a charset": (fields) => buildBody(buildForm(fields), `${formType}; charset=UTF-8`),
  "a form in UTF-16": (fields) =>
    buildBody(
      Buffer.from(buildForm(fields), "utf16le") as Uint8Array<ArrayBuffer>,
      `${formType}; charset=utf-16le`,
    ),
  "a multipart form": (fields) =>
    buildBody(buildMultipart(fields), `multipart/form-data; boundary=${boundary}`),
  JSON: (fields) => buildBody(JSON.stringify(fields), "application/json"),
  "JSON with a charset": (fields) =>
    buildBody(JSON.stringify(fields), "Application/JSON; charset=utf-8"),
  "another type of JSON": (fields) =>
    buildBody(JSON.stringify(fields), "application/cloudevents+json"),
  "JSON that is sent as a form, as curl does": (fields) =>
    buildBody(JSON.stringify(fields), formType),
  "a form in part, the rest a query": ({ status, ...rest }) => ({
    query: buildForm(rest),
    ...buildBody(buildForm(status === undefined ? {} : { status }), formType),
  }),
};

async function setUpWaiting() {
  const watch = await createWatch();
  const { id, path } = await watch.createJob();
  await watch.engine.runOnce();
  const token = path.split("/").at(-1) ?? "";
  const send = (route: string, method: string, { query, options }: Sent) =>
    watch.stranger(
      method,
      route.replace(":token", token) + (query === undefined ? "" : `?${query}`),
      options,
    );
  const readLastBeat = async () => (await watch.readBeats(id)).at(-1);
  return { ...watch, id, send, readLastBeat };
}

const statuses = [
  "up",
  "down",
  " down\n",
  "DOWN",
  "Up",
  "1",
  "0",
  "ok",
  "fail",
  "",
  "true",
  "paused",
];

for (const { path, methods, dialect } of pushRoutes)
  describe(path, () => {
    const isOurs = dialect.latency === "latency_ms";
    const statusOf = (value: string) => {
      if (value.trim() === "up") return "up";
      return value.trim() === "down" || !isOurs ? "down" : null;
    };

    for (const [name, encode] of Object.entries(encodings))
      test(`accepts a status from ${name}, or rejects it with its name`, async () => {
        const { send, readLastBeat, id, readStatus } = await setUpWaiting();
        const method = name === "a query" ? "GET" : "POST";
        for (const status of statuses) {
          const other = statusOf(status) === "down" ? "up" : "down";
          await send(path, "GET", { query: `status=${other}` });
          const { status: code, json } = await send(path, method, encode({ status }));
          const expectedStatus = statusOf(status);
          const seen = [status, code, json.error?.details?.[0].path ?? null, await readStatus(id)];
          expect(seen).toEqual(
            expectedStatus === null
              ? [status, 422, "status", other]
              : [status, 200, null, expectedStatus],
          );
        }
        const message = "line1\nline2\t\u001b[31m \u202eDisk \ud83d\ude00 full";
        const latency = { [dialect.latency]: "12.5" };
        await send(path, method, encode({ status: "down", msg: message, ...latency }));
        expect(await readLastBeat()).toMatchObject({
          status: "down",
          message: "line1 line2 [31m Disk \ud83d\ude00 full",
        });
      });

    test("ignores unknown parameters, leaves out an unreadable latency and cuts a long message", async () => {
      const { send, readMonitor, id } = await setUpWaiting();
      const values = { "12.5": 13, "4200": 4200, " 7 ": 7, "-1": null, "1e3": null, "0x10": null };
      const more = { "": null, NaN: null, "1234567890": null, "1,5": null };
      for (const [value, latencyMs] of Object.entries({ ...values, ...more })) {
        const fields = { status: "up", job: "backup", [dialect.latency]: value };
        const { status } = await send(path, "GET", { query: buildForm(fields) });
        expect([value, status, (await readMonitor(id)).latencyMs]).toEqual([value, 200, latencyMs]);
      }
      await send(path, "GET", { query: "state=down&rid=7" });
      expect(await readMonitor(id)).toMatchObject({
        status: "up",
        lastMessage: "Up, because the report has no status. Ignored: state, rid",
      });
      const long = `${"x".repeat(499)}\ud83d\ude00${"y".repeat(5000)}`;
      await send(path, "POST", encodings["a form"]!({ msg: long }));
      expect((await readMonitor(id)).lastMessage).toBe(`${"x".repeat(499)}\ud83d\ude00`);
      await send(path, "GET", { query: "status=down&msg=Plattenplatz%20f%fcr%20100%" });
      expect(await readMonitor(id)).toMatchObject({
        status: "down",
        lastMessage: "Plattenplatz f\ufffdr 100%",
      });
    });

    test("is down if query and body, or two parameters, contradict each other", async () => {
      const { send, readStatus, id } = await setUpWaiting();
      const down: Sent[] = [
        { query: "status=up&status=down" },
        { query: "status=down&status=up" },
        { query: "status=up", ...buildBody("status=down", formType) },
        { query: "status=down", ...buildBody('{"status":"up"}', "application/json") },
        { query: "status=up", ...buildBody('{"Status":"down"}', "application/json") },
        { query: "STATUS=down" },
        { query: "status%5B%5D=down" },
        { query: "status[0]=down" },
        { query: "msg=a&amp;status=down" },
        buildBody("status[]=down", formType),
      ];
      for (const sent of down) {
        await send(path, "GET", { query: "status=up" });
        expect([sent, (await send(path, "POST", sent)).status]).toEqual([sent, 200]);
        expect([sent, await readStatus(id)]).toEqual([sent, "down"]);
      }
    });

    const unreadable: [name: string, sent: Sent, code: number][] = [
      ["a word", buildBody("down", formType), 422],
      ["a list", buildBody('["status","down"]', "application/json"), 422],
      ["a JSON text", buildBody('"down"', formType), 422],
      ["a number", buildBody("0", "application/json"), 422],
      ["JSON that is cut off", buildBody('{"status":"down","msg":"a=b', formType), 400],
      ["no JSON", buildBody("status=down", "application/json"), 400],
      ["a status that is sent twice", buildBody('{"status":"down","status":"up"}', formType), 422],
      ["plain text", buildBody("status=down", "text/plain"), 415],
      ["XML", buildBody("<status>down</status>", "application/xml"), 415],
      ["a multipart form without a boundary", buildBody("x", "multipart/form-data"), 422],
      [
        "UTF-16 without a charset",
        buildBody(Buffer.from("status=down", "utf16le") as Uint8Array<ArrayBuffer>, formType),
        422,
      ],
      [
        "JSON in UTF-16 without a charset",
        buildBody(
          Buffer.from('{"status":"down"}', "utf16le") as Uint8Array<ArrayBuffer>,
          "application/json",
        ),
        422,
      ],
      ["an unknown charset", buildBody("status=down", `${formType}; charset=ebcdic`), 415],
      [
        "a compressed body",
        {
          options: {
            raw: Bun.gzipSync("status=down"),
            headers: { "Content-Type": formType, "Content-Encoding": "gzip" },
          },
        },
        415,
      ],
      [
        "a body that is too long",
        buildBody(`status=down&log=${"x".repeat(70_000)}`, formType),
        413,
      ],
    ];
    test("rejects an unreadable body, unless the query contains the report", async () => {
      const world = await setUpWaiting();
      const { send, readStatus, id } = world;
      for (const [name, sent, code] of unreadable) {
        const before = dumpTables(world);
        expect([name, (await send(path, "POST", sent)).status]).toEqual([name, code]);
        expect(dumpTables(world)).toBe(before);
        for (const status of ["up", "down"]) {
          const response = await send(path, "POST", { ...sent, query: `status=${status}` });
          expect([name, response.status, await readStatus(id)]).toEqual([name, 200, status]);
        }
      }
    });

    test("rejects a body with GET, and unsupported methods", async () => {
      const world = await setUpWaiting();
      const before = dumpTables(world);
      const announced = { headers: { "Content-Length": "11" } };
      const { status, json } = await world.send(path, "GET", { options: announced });
      expect([status, json.error.details[0].path]).toEqual([422, "body"]);
      for (const method of ["HEAD", "PUT", "PATCH", "DELETE"].filter((it) => !methods.includes(it)))
        expect([method, (await world.send(path, method, {})).status]).toEqual([method, 405]);
      expect(dumpTables(world)).toBe(before);
    });

    test("treats an empty body, or one without a status, as a successful report", async () => {
      const { send, readLastBeat } = await setUpWaiting();
      const quiet = [
        {},
        buildBody("", formType),
        buildBody("{}", "application/json"),
        buildBody("msg=ok", formType),
      ];
      for (const sent of quiet)
        for (const method of methods.filter((it) => it !== "GET")) {
          expect([method, sent, (await send(path, method, sent)).status]).toEqual([
            method,
            sent,
            200,
          ]);
          expect((await readLastBeat())?.status).toBe("up");
        }
      const odd = { msg: { copied: 12 }, status: "down" };
      await send(path, "POST", buildBody(JSON.stringify(odd), "application/json"));
      expect(await readLastBeat()).toMatchObject({ status: "down", message: '{"copied":12}' });
      await send(
        path,
        "POST",
        buildBody('{"status":"down","msg":"line1\nline2"}', "application/json"),
      );
      expect(await readLastBeat()).toMatchObject({ status: "down", message: "line1 line2" });
    });

    test("never treats a JSON status as up if it is not text", async () => {
      const { send, readStatus, id } = await setUpWaiting();
      await send(path, "GET", { query: "status=up" });
      for (const status of [false, 0, null, 1, ["down"], {}]) {
        const response = await send(
          path,
          "POST",
          buildBody(JSON.stringify({ status }), "text/json"),
        );
        expect([status, response.status]).toEqual([status, isOurs ? 422 : 200]);
        expect(await readStatus(id)).toBe(isOurs ? "up" : "down");
      }
    });
  });
