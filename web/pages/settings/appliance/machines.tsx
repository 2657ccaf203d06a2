/** Shows the machines of a cluster and of its database, with their state and tasks. */
import type { ClusterStatus } from "../../../../src/cluster/schema.ts";
import { formatDecimals } from "../../../../src/core/text/formatting.ts";
import { Panel } from "../../../components/page.tsx";
import { StateIcon } from "../../../components/display/state-icon.tsx";
import { Time } from "../../../components/display/time.tsx";
import { Entry } from "../entry.tsx";
import { t, tCount, tNode } from "../../../language/text.ts";

/** Labels of singleton tasks, which one machine performs for all. */
const taskNames: Record<ClusterStatus["nodes"][number]["tasks"][number], string> = {
  alerting: t("alerts"),
  subscribers: t("subscribers"),
  maintenance: t("maintenance"),
  retention: t("clean-up"),
  backups: t("backups"),
  problems: t("self-monitoring"),
};

/** Lists the machines of a cluster and of its database. Empty with a single machine. */
export function Machines({
  cluster: { nodes, databases, freeShards },
}: {
  cluster: ClusterStatus;
}) {
  return (
    <>
      {nodes.length > 0 && (
        <Panel title={t("Machines")} isFlush>
          <ul className="entries" aria-label={t("Machines")}>
            {nodes.map((node) => (
              <NodeEntry key={node.id} node={node} />
            ))}
            {freeShards > 0 && (
              <Entry
                mark={<StateIcon state="degraded" size={14} />}
                title={tCount(
                  freeShards,
                  "{count} shard without a machine",
                  "{count} shards without a machine",
                )}
                note={tCount(
                  freeShards,
                  "The monitors in it are not being checked right now.",
                  "The monitors in them are not being checked right now.",
                )}
              />
            )}
          </ul>
        </Panel>
      )}
      {databases.length > 0 && (
        <Panel title={t("Database")} isFlush>
          <ul className="entries" aria-label={t("Machines of the database")}>
            {databases.map(({ address, leader, reachable }) => (
              <Entry
                key={address}
                mark={<StateIcon state={reachable ? "up" : "down"} size={14} />}
                isOver={!reachable}
                title={address}
                note={reachable ? (leader ? t("Leader") : t("Follower")) : t("Can't be reached")}
              />
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}

function NodeEntry({ node }: { node: ClusterStatus["nodes"][number] }) {
  return (
    <Entry
      mark={<StateIcon state={node.alive ? "up" : "down"} size={14} />}
      isOver={!node.alive}
      title={node.name}
      note={
        node.alive ? (
          [`Signalbox ${node.version}`, ...node.tasks.map((task) => taskNames[task])].join(", ")
        ) : (
          <>{tNode("No contact for {time}", { time: <Time at={node.lastSeenAt} as="for" /> })}</>
        )
      }
      facts={[
        [t("Shards"), node.shards],
        [
          t("Behind"),
          node.eventLag === null ? "–" : tCount(node.eventLag, "{count} event", "{count} events"),
        ],
        [t("Clock"), formatSeconds(node.clockOffsetMs)],
      ]}
    />
  );
}

function formatSeconds(ms: number | null): string {
  if (ms === null) return "–";
  // The database reports whole seconds.
  if (Math.abs(ms) < 1_000) return "<\u202f1\u202fs";
  return `${ms < 0 ? "−" : "+"}${formatDecimals(Math.abs(ms) / 1_000, 1)}\u202fs`;
}
