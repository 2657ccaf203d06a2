import { expect, test } from "bun:test";
import { inflateSync } from "node:zlib";
import { visitor, type Visitor } from "../support/visitor.ts";

/** Width, height and how many pixels differ from the paper in a band of rows. */
function read(png: Uint8Array) {
  const view = new DataView(png.buffer, png.byteOffset);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const length = view.getUint32(33);
  const rows = inflateSync(png.subarray(41, 41 + length));
  const rowBytes = 1 + 3 * width;
  expect(rows.length).toBe(rowBytes * height);
  const inkBetween = (from: number, to: number) => {
    let ink = 0;
    for (let y = from; y < to; y++)
      for (let x = 60; x < width; x++) if ((rows[y * rowBytes + 1 + 3 * x] ?? 0) < 200) ink++;
    return ink;
  };
  return { width, height, title: inkBetween(190, 450), foot: inkBetween(500, 570) };
}

async function image({ answer, restart }: Visitor, id: string) {
  await restart();
  const path = `http://localhost/status/ours/incidents/${id}/image.png`;
  const response = (await answer(new Request(path))) as Response;
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
  return new Uint8Array(await response.arrayBuffer());
}

test("a link to an incident is shown with its title, state and image", async () => {
  await using made = await visitor();
  const { id } = await made.incident({
    title: "Zahlungen „scheitern“ <b>",
    message: "**Wir** schauen.",
  });
  const first = await image(made, id);
  expect(read(first)).toMatchObject({ width: 1200, height: 630 });
  const { text } = await made.read(`/status/ours/incidents/${id}`);
  const meta = new Map(
    [...text.matchAll(/<meta property="og:([\w:]+)" content="([^"]*)"/g)].map(
      ([, name = "", content = ""]) => [name, content] as const,
    ),
  );
  expect(meta.get("title")).toBe("Zahlungen „scheitern“ &lt;b&gt;");
  expect(meta.get("description")).toBe("Investigating: Wir schauen.");
  expect(meta.get("image")).toEndWith(`/status/ours/incidents/${id}/image.png?v=investigating`);
  expect(meta.get("image")).toStartWith("http");
  const body = { message: "Ann holds the key." };
  expect((await made.api("POST", `/api/v1/incidents/${id}/notes`, { body })).status).toBe(201);
  expect(await image(made, id)).toEqual(first);
  await made.post(id, { status: "resolved" });
  expect(await image(made, id)).not.toEqual(first);
});

test("an image says nothing in a script that its font lacks, and cuts what is too long", async () => {
  await using made = await visitor();
  const of = async (title: string) => read(await image(made, (await made.incident({ title })).id));
  const known = await of("Ошибка Σφάλμα Lỗi Błąd 🔥");
  expect(known.title).toBeGreaterThan(1_000);
  const unknown = await of("結帳失敗");
  expect(unknown.title).toBe(0);
  expect(unknown.foot).toBeGreaterThan(500);
  const long = await of("W".repeat(500));
  expect(long.title).toBeGreaterThan(10_000);
});

test("what a page does not show has no image, nor does a page with a password name one", async () => {
  await using made = await visitor();
  const { id } = await made.incident({ public: false });
  expect((await made.get(`/status/ours/incidents/${id}/image.png`)).status).toBe(404);
  const { id: shown } = await made.incident();
  await made.publish({ visibility: "password", password: "a long enough one" });
  expect((await made.get(`/status/ours/incidents/${shown}/image.png`)).status).not.toBe(200);
});
