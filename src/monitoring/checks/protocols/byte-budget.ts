/** Limits the memory for responses of running checks, and divides it fairly among organizations. */
import { LocalFailure } from "../../../core/outgoing/failures.ts";
import type { Memory } from "../../../core/outgoing/memory.ts";

const mib = 1024 * 1024;
/**
 * Bytes for responses of all checks: `reserved` is divided among organizations, `shared` is first come, first served.
 */
const defaultBudget = { reserved: 32 * mib, shared: 32 * mib };
/** Minimum share of an organization, enough for one long response. */
const minShare = mib;

/** Memory of one check. `end` releases all of it. */
export type CheckMemory = Memory & { end(): void };

/** Creates the budget. `organizations` returns the current number of organizations with checks. */
export function createByteBudget(
  organizations: () => number,
  { reserved, shared } = defaultBudget,
) {
  const usedBytes = new Map<string, number>();

  function take(organizationId: string, bytes: number) {
    const share = Math.max(minShare, reserved / Math.max(1, organizations()));
    const before = usedBytes.get(organizationId) ?? 0;
    const after = before + bytes;
    if (after > share) {
      const sharedBytes = [...usedBytes].reduce(
        (sum, [id, bytes]) => sum + (id === organizationId ? 0 : Math.max(0, bytes - share)),
        after - share,
      );
      if (sharedBytes > shared)
        throw new LocalFailure("too many long responses are being read at once");
    }
    usedBytes.set(organizationId, after);
  }

  function giveBack(organizationId: string, bytes: number) {
    const bytesLeft = (usedBytes.get(organizationId) ?? 0) - bytes;
    if (bytesLeft > 0) usedBytes.set(organizationId, bytesLeft);
    else usedBytes.delete(organizationId);
  }

  return {
    /** Creates the memory of one check of the organization. */
    of(organizationId: string): CheckMemory {
      let ownBytes = 0;
      let isOver = false;
      return {
        reserve(bytes) {
          if (isOver) throw new LocalFailure("the check is over");
          if (bytes === 0) return;
          take(organizationId, bytes);
          ownBytes += bytes;
        },
        release(bytes) {
          if (isOver) return;
          ownBytes -= bytes;
          giveBack(organizationId, bytes);
        },
        end() {
          isOver = true;
          giveBack(organizationId, ownBytes);
        },
      };
    },
    /** Bytes in use by all checks. */
    countUsed: () => [...usedBytes.values()].reduce((sum, bytes) => sum + bytes, 0),
  };
}
