/** Outgoing TCP connections: choice of address, data, resets and timeouts. */
import { describe, expect, test } from "bun:test";
import type { Address } from "../../../src/core/outgoing/context.ts";
import { dial } from "../../../src/core/outgoing/connection.ts";
import { getFreePort } from "../../support/binary.ts";
import { knowsConnections, startListener, waitUntilClosed } from "../../support/check-runs.ts";
import { readAll, createDialContext, findReason } from "../../support/dial-context.ts";
import { canBeSilent, openSilentAddress } from "../../support/silent-address.ts";

const first: Address = { address: "127.0.0.1", family: 4, isPrivate: true };
const second: Address = { address: "127.0.0.2", family: 4, isPrivate: true };
const third: Address = { address: "127.0.0.3", family: 4, isPrivate: true };

describe("of several addresses", () => {
  test("one that refuses is skipped, and the next one is used", async () => {
    const { context, end } = createDialContext();
    const port = getFreePort();
    await using server = await startListener((socket) => void socket.end("second"), {
      ...second,
      port,
    });
    const connection = await dial([first, second], port, context);
    expect(await readAll(connection)).toBe("second");
    end();
    await server.waitUntilAllClosed();
  });

  test("the first that accepts is used, and no other is tried", async () => {
    const { context, end } = createDialContext();
    const port = getFreePort();
    await using server = await startListener((socket) => void socket.end("first"), { port });
    await using other = await startListener(() => {}, { ...second, port });
    expect(await readAll(await dial([first, second], port, context))).toBe("first");
    end();
    await server.waitUntilAllClosed();
    expect(other.countAccepted()).toBe(0);
  });

  test("if all refuse, that is the reason; if there are none, that is", async () => {
    const port = getFreePort();
    const refused = findReason(dial([first, second, third], port, createDialContext().context));
    expect(await refused).toBe("The connection was refused.");
    expect(() => dial([], port, createDialContext().context)).toThrow("The name has no address.");
  });

  test.skipIf(!canBeSilent)("a silent one does not delay the next", async () => {
    const { context, end } = createDialContext();
    using silent = openSilentAddress();
    const { port } = silent;
    await using server = await startListener((socket) => void socket.end("second"), {
      ...second,
      port,
    });
    expect(await readAll(await dial([first, second], port, context))).toBe("second");
    expect(server.countAccepted()).toBe(1);
    end();
  });

  test.skipIf(!canBeSilent)("a silent one between others that refuse is waited for", async () => {
    const { context, end } = createDialContext();
    using silent = openSilentAddress();
    const outcome = findReason(dial([second, first, third], silent.port, context));
    const turns = Bun.sleep(0).then(() => "waits");
    expect(await Promise.race([outcome, turns])).toBe("waits");
    end();
  });
});

describe("a connection", () => {
  test("delivers data that arrived before and during a read", async () => {
    const { context, end } = createDialContext();
    await using server = await startListener((socket) => {
      socket.write("early ");
      socket.once("data", () => socket.end("late"));
    });
    const connection = await dial([first], server.port, context);
    let early = "";
    const message = Promise.withResolvers<void>();
    const reading = connection.read((chunk) => {
      early += chunk.toString();
      message.resolve();
    });
    await message.promise;
    expect(early).toBe("early ");
    connection.write("go on");
    await reading;
    expect(early).toBe("early late");
    end();
  });

  test("transfers large writes completely and in order to a slow reader", async () => {
    const { context, end } = createDialContext();
    const received: Buffer[] = [];
    await using server = await startListener((socket) => {
      socket.on("data", (chunk) => {
        received.push(chunk);
        socket.pause();
        setImmediate(() => socket.resume());
        if (Buffer.concat(received).includes("!")) socket.end("thanks");
      });
    });
    const connection = await dial([first], server.port, context);
    const pieces = Array.from({ length: 32 }, (_, index) => Buffer.alloc(256 * 1024, 65 + index));
    for (const piece of pieces) connection.write(piece);
    connection.write("!");
    expect(await readAll(connection)).toBe("thanks");
    expect(Buffer.concat(received).equals(Buffer.concat([...pieces, Buffer.from("!")]))).toBe(true);
    end();
  });

  test("that is reset reports it to current and later readers", async () => {
    const closedEarly = "The connection was closed before the response was complete.";
    const { context, end } = createDialContext();
    await using server = await startListener((socket) => {
      socket.once("data", () => socket.resetAndDestroy());
    });
    for (const late of [false, true]) {
      const connection = await dial([first], server.port, context);
      const reading = late ? null : findReason(readAll(connection));
      connection.write("reset");
      await server.waitUntilAllClosed();
      expect(await (reading ?? findReason(readAll(connection)))).toBe(closedEarly);
    }
    end();
  });

  test("is closed at the end of its check, even if the other side hangs, does not read or never ends", async () => {
    const greetings = [
      () => {},
      (socket: { pause(): unknown }) => void socket.pause(),
      (socket: { write(text: string): unknown }) => void socket.write("more to come"),
    ];
    for (const greets of greetings)
      for (const bytes of [0, 4 * 1024 * 1024]) {
        const { context, end } = createDialContext();
        await using server = await startListener(greets);
        const connection = await dial([first], server.port, context);
        connection.read(() => {}).catch(() => {});
        connection.write(Buffer.alloc(bytes));
        await server.waitUntilAccepted(1);
        end();
        if (knowsConnections) await waitUntilClosed(server.port);
        expect(await connection.read(() => {}).catch(String)).toContain("Error");
      }
  });

  test.skipIf(!canBeSilent)(
    "that never opens is given up, repeatedly, without leftovers",
    async () => {
      using silent = openSilentAddress();
      for (let round = 0; round < 5; round++) {
        const { context, end } = createDialContext();
        const dialed = dial([first], silent.port, context).then(
          () => "connected",
          ({ message }: Error) => message,
        );
        end();
        expect(await dialed).toBe("No connection could be established.");
      }
      // The connection that makes the address silent, and the first of the five, which the system
      // gives up.
      await waitUntilClosed(silent.port, 2);
    },
  );

  test("that opens after its check has ended is closed at once", async () => {
    const { context, end } = createDialContext();
    await using server = await startListener((socket) => void socket.resume());
    const reason = findReason(dial([first], server.port, context));
    end();
    expect(await reason).toBe("No connection could be established.");
    await server.waitUntilAccepted(1);
    await server.waitUntilAllClosed();
  });
});
