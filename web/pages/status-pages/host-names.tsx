/** DNS records and certificates of a status page's own host names. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { dashboard } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { createDataQuery } from "../../data/query.ts";
import type { StatusPage } from "../../data/status-pages.ts";
import { BusyButton } from "../../components/forms/busy-button.tsx";
import { CopyLine } from "../../components/copy.tsx";
import { Panel } from "../../components/page.tsx";
import { StateIcon } from "../../components/display/state-icon.tsx";
import { Time } from "../../components/display/time.tsx";
import { translateServerText } from "../../language/server-text.ts";
import { t, tNode } from "../../language/text.ts";

/** The page's host names, with their current DNS and certificate state and the required records. */
export function HostNames({ page: { id, hosts } }: { page: StatusPage }) {
  return (
    <Panel title={t("Custom host names")}>
      {hosts.length === 0 && (
        <p className="quiet panel-none">
          {tNode(
            "The page can have its own domain name, such as status.acme.example. Add it under “Host names” on the tab {link}. Its DNS record and certificate are checked here.",
            {
              link: (
                <Link to="/status-pages/$id" params={{ id }} search={{}} className="link">
                  {t("Page")}
                </Link>
              ),
            },
          )}
        </p>
      )}
      {hosts.map((host) => (
        <HostName key={host} pageId={id} host={host} />
      ))}
    </Panel>
  );
}

function HostName({ pageId, host }: { pageId: string; host: string }) {
  const { data, error, isFetching, refetch } = useQuery({
    ...createDataQuery([...recordKey("status-page", pageId), "host-check", host], (options) =>
      dashboard["status-pages"]({ id: pageId })["host-check"].post({ host }, options),
    ),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const state = data === undefined ? "pending" : data.works ? "up" : "down";
  return (
    <section className="host-name">
      <StateIcon state={state} />
      <div>
        <h3>{host}</h3>
        <p className="quiet" role="status">
          {data
            ? translateServerText(data.message)
            : (error?.message ?? t("Checking DNS and TLS…"))}
          {data?.certificateExpiresAt && (
            <>
              {" "}
              {tNode("The certificate is valid until {time}.", {
                time: <Time at={data.certificateExpiresAt} as="short" />,
              })}
            </>
          )}
        </p>
      </div>
      <BusyButton size="xs" loading={isFetching} onClick={() => void refetch()}>
        {t("Check again")}
      </BusyButton>
      {data?.works === false && (
        <ol>
          <li>
            {data.record === null ? (
              t("Create a DNS record that leads to this machine, or to your reverse proxy.")
            ) : (
              <>
                {t("Create this DNS record, or one that leads to your reverse proxy:")}
                <CopyLine
                  label={t("{type} record", { type: data.record.type })}
                  text={`${host}. ${data.record.type} ${data.record.value}`}
                />
              </>
            )}
          </li>
          <li>
            {t(
              "If a reverse proxy serves TLS, add the name and a certificate for it there; it passes the name on in the Host header.",
            )}
          </li>
        </ol>
      )}
    </section>
  );
}
