/** The alert engine: follows events, decides on alerts, sends deliveries, and reads receipts. */
import {
  type Leases,
  createLeaseValue,
  guardStoreWithLease,
  createLeasedWork,
} from "../../cluster/leases.ts";
import type { EventReader } from "../../events/reader.ts";
import type { ScopeServices } from "../../events/scope.ts";
import type { SendingContext } from "../sending/attempt.ts";
import { AlertFanOut } from "./fan-out.ts";
import { createChannelReceivers } from "../channel-receivers.ts";
import { readOutboxMetrics } from "../metrics.ts";
import { Notifier } from "../sending/notifier.ts";
import { createReceiptPolling } from "../sending/receipts.ts";
import type { Receivers } from "../sending/queue.ts";

/** Interval at which timers and due deliveries are processed. */
const tickMs = 1_000;
/** Time for in-flight requests to finish when the appliance stops. */
const graceMs = 3_000;

type Dependencies = SendingContext &
  ScopeServices & {
    leases: Leases;
    events: EventReader;
    /** Status page subscribers as receivers of notices. */
    subscribers: Record<"mailbox" | "webhook", Receivers>;
    random?: () => number;
    /** Maximum rows per write; tests set a lower number. */
    rowsAtOnce?: number;
    /** Unix milliseconds of the start, or of the end of the last standstill. */
    runningSince?: () => number;
  };

/** Creates the alert engine. */
export function createAlertEngine(dependencies: Dependencies) {
  const { store, clock, log, events, leases } = dependencies;
  const onWrite = () => sending.wake();
  const fanNow = createLeaseValue(
    leases,
    "alerting",
    (lease) =>
      new AlertFanOut({ ...dependencies, store: guardStoreWithLease(store, lease), onWrite }),
  );
  const receipts = createReceiptPolling(dependencies);
  const receivers = { channel: createChannelReceivers(dependencies), ...dependencies.subscribers };
  const sending = new Notifier({ ...dependencies, receivers });
  const deciding = createLeasedWork(dependencies, "alerting", async () => {
    const follower = fanNow()?.follower;
    if (follower === undefined) return async () => {};
    const stop = await follower.start(events, log);
    return async () => {
      await stop();
      // If saving fails, the next follower reads these events again and finds nothing to send.
      await follower.save().catch(() => {});
    };
  });
  let ticking: ReturnType<typeof setInterval> | null = null;

  async function tick() {
    void receipts.runOnce();
    await fanNow()?.tick();
    sending.wake();
  }

  return {
    metrics: async () => [...sending.metrics(), ...(await readOutboxMetrics(store, clock()))],
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
    /** Stops the engine. Undelivered alerts are sent after the next start. */
    async stop() {
      if (ticking !== null) clearInterval(ticking);
      await receipts.stop();
      await deciding.stop();
      await sending.stop(graceMs);
    },
    /** Saves the position in the event log if no other write has saved it. */
    save: async () => fanNow()?.follower.save(),
    /** Creates deliveries from events and sends due ones once. Tests use it instead of `start`. */
    async runOnce() {
      await fanNow()?.runOnce();
      await receipts.runOnce();
      await sending.runOnce();
    },
  };
}
