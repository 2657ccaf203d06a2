import { dataOf } from "../../data/client.ts";
import { deleteWithUndo } from "../../components/deleting.ts";
import { pageRoutes, type Subscriber } from "../../data/status-pages.ts";
import { Icon } from "../../components/icons.tsx";
import { StateIcon } from "../../components/state-icon.tsx";
import { Time } from "../../components/time.tsx";

type Props = { pageId: string; subscriber: Subscriber; mayWrite: boolean };

export function SubscriberLine({ pageId, subscriber, mayWrite }: Props) {
  const { id, email, url, status, secretsSet, lastError, lastDeliveryAt, createdAt } = subscriber;
  const address = email ?? url ?? "";
  const state = lastError !== null ? "down" : status === "pending" ? "pending" : "up";
  return (
    <li>
      <StateIcon state={state} size={15} />
      <span className="line-words">
        <b>{address}</b>{" "}
        <span className="faint">
          {status === "pending" && "not confirmed yet"}
          {status === "confirmed" && lastDeliveryAt !== null && (
            <>
              last notified <Time at={lastDeliveryAt} />
            </>
          )}
          {secretsSet.length > 0 && " · signed"}
        </span>
        {lastError !== null && <span className="subscriber-flaw down">{lastError}</span>}
      </span>
      <Time at={createdAt} as="short" />
      {mayWrite && (
        <button
          type="button"
          className="dots"
          aria-label={`Delete ${address}`}
          title="Delete"
          onClick={() =>
            deleteWithUndo({ id, title: address }, () =>
              dataOf(pageRoutes(pageId).subscribers({ subscriberId: id }).delete()),
            )
          }
        >
          <Icon name="trash" size={15} />
        </button>
      )}
    </li>
  );
}
