import { type Leases, perLease, underLease, whileHeld } from "../../cluster/leases.ts";
import { readSince } from "../../events/log.ts";
import type { EventReader } from "../../events/reader.ts";
import type { SendingContext } from "../sending/attempt.ts";
import { AlertFanOut } from "./fan-out.ts";
import { channelReceivers } from "../channel-receivers.ts";
import { outboxMetrics } from "../metrics.ts";
import { Notifier } from "../sending/notifier.ts";
import type { Receivers } from "../sending/queue.ts";

/** What gets due – deliveries, reminders, the end of flapping, certificates – is looked for this often. */
const tickMs = 1_000;
/** Requests under way when the appliance is told to stop have so long to be answered. */
const graceMs = 3_000;

type Dependencies = SendingContext & {
  leases: Leases;
  events: EventReader;
  /** How what waits for subscribers of status pages is sent. */
  subscribers: Record<"mailbox" | "webhook", Receivers>;
  random?: () => number;
  /** Rows of one write; tests set fewer. */
  rowsAtOnce?: number;
  /** Unix milliseconds of the start or of the last standstill. */
  runningSince?: () => number;
};

/** Tells people: follows the events, decides who hears of them, delivers until they arrive. */
export function alertEngine(dependencies: Dependencies) {
  const { store, clock, log, events, leases } = dependencies;
  const onWrite = () => sending.wake();
  const fanNow = perLease(
    leases,
    "alerting",
    (lease) => new AlertFanOut({ ...dependencies, store: underLease(store, lease), onWrite }),
  );
  const receivers = { channel: channelReceivers(dependencies), ...dependencies.subscribers };
  const sending = new Notifier({ ...dependencies, receivers });
  const deciding = whileHeld(dependencies, "alerting", async () => {
    const follower = fanNow()?.follower;
    if (follower === undefined) return async () => {};
    const stop = await follower.start(events, log);
    return async () => {
      await stop();
      // If it fails, the next follower reads these events again and finds nothing to send.
      await follower.save().catch(() => {});
    };
  });
  let ticking: ReturnType<typeof setInterval> | null = null;

  async function tick() {
    await fanNow()?.tick();
    sending.wake();
  }

  return {
    metrics: async () => [...sending.metrics(), ...(await outboxMetrics(store, clock()))],
    async start() {
      await sending.start();
      await deciding.start();
      ticking = setInterval(() => {
        tick().catch((error: unknown) =>
          log.error("deciding about alerts failed", { cause: String(error) }),
        );
      }, tickMs);
      sending.wake();
    },
    /** Ends what is under way; what was not delivered goes out after the next start. */
    async stop() {
      if (ticking !== null) clearInterval(ticking);
      await deciding.stop();
      await sending.stop(graceMs);
    },
    /** Writes down how far it has come with the events, where nothing else did. */
    save: async () => fanNow()?.follower.save(),
    /** Turns what happened into deliveries and sends what is due now: for tests, instead of `start`. */
    async runOnce() {
      const fan = fanNow();
      if (fan !== null) {
        const { follower } = fan;
        await follower.take(await readSince(store, (await follower.cursor.read()).seq, 10_000));
        await follower.drain();
        await fan.tick();
      }
      await sending.runOnce();
    },
  };
}
