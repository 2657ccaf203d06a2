import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { createServer as createSecureServer } from "node:tls";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeCertificates } from "../../../support/certificates.ts";
import { runCheckOfType } from "../../../support/check-runs.ts";
import { createDashboard } from "../../../support/dashboard.ts";
import { docker } from "../../../support/fakes/docker.ts";
import type { ServeSocket } from "../../../support/fakes/fake.ts";
import { defineTestWith } from "../../../support/real-targets.ts";

/** A stand-in for the Docker API on a socket. */
async function createSocket() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  const path = join(folder, "docker.sock");
  let accepted = 0;
  const server = createServer((socket) => {
    accepted++;
    (docker.serve as ServeSocket)(socket, () => socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    accepted: () => accepted,
    [Symbol.dispose]() {
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const request = { container: "shop-web" };

test("without a host the Docker of this machine is used, over its socket", async () => {
  using socket = await createSocket();
  expect(await runCheckOfType("docker", request, { dockerSocket: socket.path })).toMatchObject({
    status: "up",
  });
  expect(socket.accepted()).toBe(1);
  expect(await runCheckOfType("docker", request)).toMatchObject({
    status: "down",
    message: "Docker is not on this machine.",
  });
});

defineTestWith(
  ["openssl"],
  "a host that requires a client certificate gets it, even if its line breaks were lost",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
    writeCertificates(folder);
    const read = (file: string) => readFileSync(join(folder, file), "utf8");
    const [cert, key, ca] = [read("good.pem"), read("good.key"), read("authority.pem")];
    rmSync(folder, { recursive: true });
    const server = createSecureServer({ cert, key, ca, requestCert: true }, (socket) => {
      socket.on("error", () => {});
      (docker.serve as ServeSocket)(socket, () => socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const host = { ...request, host: "127.0.0.1", port, verifyTls: false };
    const joinLines = (text: string) => text.replaceAll("\n", "");
    expect(
      await runCheckOfType("docker", {
        ...host,
        clientCertificate: joinLines(cert),
        clientKey: joinLines(key),
      }),
    ).toMatchObject({ status: "up" });
    expect(await runCheckOfType("docker", host)).toMatchObject({ status: "down" });
    server.close();
  },
);

const shared = "is this machine itself, which several organizations share";

test("the socket is blocked from the second organization on, like all of loopback", async () => {
  let isShared = false;
  const { api, monitor } = await createDashboard({ isShared: () => isShared });
  const { id } = await monitor({ type: "docker", ...request });
  const path = "/api/v1/monitors";
  isShared = true;
  expect((await api("POST", `${path}/${id}/check`)).json.data.message).toBe(
    `Not judged: the target ${shared} (see --allow-target).`,
  );
  const { status, json } = await api("POST", path, {
    body: { type: "docker", name: "Shop", ...request },
  });
  expect([status, json.error.details]).toEqual([
    422,
    [
      {
        path: "host",
        message: `must not be connected to: this address ${shared} (see --allow-target)`,
      },
    ],
  ]);
});
