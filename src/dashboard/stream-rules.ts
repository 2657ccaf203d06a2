/** Limits the live streams of admin pages. */
import { livePageBounds } from "../core/limits.ts";

/** Maximum live streams per session, per organization and in total. */
const maxStreams = {
  session: livePageBounds.perSession.value,
  organization: livePageBounds.perOrganization.value,
  appliance: livePageBounds.perAppliance.value,
};
/** Streams within these limits that are reserved for people and organizations with few streams. */
const reservedStreams = { organization: 20, appliance: 200 };
/** With fewer streams than this, a person or an organization can use the reserved streams. */
const streamsBeforeReserve = { person: 2, organization: 10 };

type Stream = { organizationId: string; personId: string; sessionId: string };

/** Whether one more page can listen. */
export function mayListen(one: Stream, others: Iterable<Stream>): boolean {
  const count = { session: 0, person: 0, organization: 0, appliance: 0 };
  for (const { organizationId, personId, sessionId } of others) {
    count.appliance++;
    if (sessionId === one.sessionId) count.session++;
    if (organizationId !== one.organizationId) continue;
    count.organization++;
    if (personId === one.personId) count.person++;
  }
  const inOrganization =
    count.person < streamsBeforeReserve.person ? 0 : reservedStreams.organization;
  const inAppliance =
    count.organization < streamsBeforeReserve.organization ? 0 : reservedStreams.appliance;
  return (
    count.session < maxStreams.session &&
    count.organization < maxStreams.organization - inOrganization &&
    count.appliance < maxStreams.appliance - inAppliance
  );
}
