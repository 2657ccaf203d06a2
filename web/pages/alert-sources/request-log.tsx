/** The requests to an alert source of the last 7 days, each with its body, and a button that handles it again. */
import { useState } from "react";
import { formatBytes } from "../../../src/core/text/formatting.ts";
import { dot } from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { StateIcon } from "../../components/display/state-icon.tsx";
import { Time } from "../../components/display/time.tsx";
import { BusyButton } from "../../components/forms/busy-button.tsx";
import { Panel } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { useAction } from "../../components/toasts.tsx";
import {
  type AlertSource,
  type LoggedSourceRequest,
  useSourceRequests,
} from "../../data/alert-sources.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { replayRequest } from "./actions.ts";
import { translateServerText } from "../../language/server-text.ts";
import { t, tNode } from "../../language/text.ts";

export function RequestLog({ source: { id } }: { source: AlertSource }) {
  const { mayWrite } = useSignedInPerson();
  const [page, setPage] = useState(1);
  const { data } = useSourceRequests(id, page, mayWrite);
  return (
    <Panel title={t("Requests")}>
      {!mayWrite && <p className="quiet panel-none">{t("Members can read the requests.")}</p>}
      {data?.meta.total === 0 && (
        <p className="quiet panel-none">
          {t("No requests yet. They appear here with what came of them, also rejected ones.")}
        </p>
      )}
      <ul className="lines deliveries">
        {data?.data.map((request) => (
          <RequestLine key={request.id} sourceId={id} request={request} />
        ))}
      </ul>
      {data !== undefined && <Pager meta={data.meta} onPage={setPage} />}
    </Panel>
  );
}

type LineProps = { sourceId: string; request: LoggedSourceRequest };

function RequestLine({ sourceId, request }: LineProps) {
  const { at, count, lastAt, status, outcome, path, bytes, body, replayOf } = request;
  const mayEdit = useSignedInPerson().atLeast("admin");
  const [isOpen, setIsOpen] = useState(false);
  const replaying = useAction(() => replayRequest(sourceId, request));
  const isGood = status < 400;
  return (
    <li>
      <StateIcon state={isGood ? "up" : "down"} size={15} />
      <div className="line-words">
        <button
          type="button"
          className="delivery-title"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          <span className={isGood ? "" : "down"}>{translateServerText(outcome)}</span>
          {count > 1 && <span className="quiet num">{t("{count} times", { count })}</span>}
          <Icon name={isOpen ? "down" : "right"} size={12} />
        </button>
        {isOpen && (
          <div className="request-details">
            <p className="delivery-why num">
              HTTP {status}
              {dot}
              {formatBytes(bytes)}
              {path !== "" && dot + path}
              {replayOf !== null && dot + t("handled again")}
              {lastAt !== null && (
                <>
                  {dot}
                  {tNode("{count} equal requests, the first {time}", {
                    count,
                    time: <Time at={at} />,
                  })}
                </>
              )}
            </p>
            {body !== null && (
              <pre className="request-body" tabIndex={0}>
                {formatBody(body)}
              </pre>
            )}
            {mayEdit && body !== null && (
              <BusyButton size="xs" loading={replaying.isPending} onClick={replaying.run}>
                {t("Handle again")}
              </BusyButton>
            )}
          </div>
        )}
      </div>
      <Time at={lastAt ?? at} as="short" />
    </li>
  );
}

/** Longer bodies are shown in part. */
const shownCharacters = 20_000;

/** Indents JSON. */
function formatBody(body: string): string {
  let text = body;
  try {
    text = JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    // A form, or no JSON.
  }
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}\n…` : text;
}
