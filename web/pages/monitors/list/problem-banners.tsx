/** The banners above the Monitors page, which warn of failing channels and appliance problems. */
import { ActionIcon } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { hiddenItems } from "../../../components/stored-set.ts";
import { isOfOnCall, type Problems, useProblems } from "../../../data/problems.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { StateIcon } from "../../../components/display/state-icon.tsx";
import { Time } from "../../../components/display/time.tsx";
import { translateServerText } from "../../../language/server-text.ts";
import { t, tCount, tNode } from "../../../language/text.ts";

/**
 * Banners about failing channels and problems of the appliance. A hidden banner returns when its
 * subject changes.
 */
export function ProblemBanners() {
  const { data } = useProblems();
  if (data === undefined) return null;
  return (
    <>
      <FailingChannels channels={data.channels} />
      <ApplianceProblems problems={data.appliance} />
    </>
  );
}

/** The words of a link, shorter on a phone. */
const LinkWords = ({ of }: { of: string }) => (
  <>
    <span className="not-phone">{of}</span>
    <span className="only-phone">{t("Open")}</span>
  </>
);

/** Maximum number of channels to name. */
const maxNamedChannels = 3;

const nameFailing = (channels: Problems["channels"]) =>
  channels.length === 1
    ? tNode("{name} is failing.", { name: <bdi>{channels[0]?.name}</bdi> })
    : tCount(
        channels.length,
        "{count} alert channel is failing.",
        "{count} alert channels are failing.",
      );

function FailingChannels({ channels }: { channels: Problems["channels"] }) {
  const lost = channels.reduce((sum, { undelivered }) => sum + undelivered, 0);
  const [only] = channels;
  return (
    <Banner
      kind="channels"
      keys={channels.map(({ id }) => id)}
      title={nameFailing(channels)}
      action={
        channels.length === 1 ? (
          <Link
            to="/alert-channels/$id"
            params={{ id: only?.id ?? "" }}
            aria-label={t("Open alert channel")}
          >
            <LinkWords of={t("Open alert channel")} />
          </Link>
        ) : (
          <Link to="/alert-channels" aria-label={t("Open alert channels")}>
            <LinkWords of={t("Open alert channels")} />
          </Link>
        )
      }
    >
      {/* The line is cut where the window ends. */}
      {lost > 0 &&
        `${tCount(lost, "{count} alert did not arrive.", "{count} alerts did not arrive.")} `}
      {channels.length === 1 && only !== undefined ? (
        <>
          {tNode("Since {time}: {error}", {
            time: <Time at={only.since} as="short" />,
            error: translateServerText(only.error),
          })}
        </>
      ) : (
        channels.slice(0, maxNamedChannels).map(({ id, name, since }, index) => (
          <span key={id}>
            {index > 0 && ", "}
            {tNode("{name} since {time}", {
              name: <bdi>{name}</bdi>,
              time: <Time at={since} as="short" />,
            })}
          </span>
        ))
      )}
      {channels.length > maxNamedChannels &&
        t(", and {count} more", { count: channels.length - maxNamedChannels })}
      {channels.length > 1 && "."}
    </Banner>
  );
}

const problemSections: Partial<Record<Problems["appliance"][number]["name"], string>> = {
  backup: "backup",
};

function ApplianceProblems({ problems }: { problems: Problems["appliance"] }) {
  const { may } = useSignedInPerson();
  const [first] = problems;
  const section = (first && may("administrator") && problemSections[first.name]) || "about";
  return (
    <Banner
      kind="appliance"
      keys={problems.map(({ name, since }) => `${name} ${since}`)}
      title={`${translateServerText(first?.title ?? "")}.`}
      action={
        first !== undefined && isOfOnCall(first) ? (
          <Link to="/on-call/readiness" aria-label={t("Open readiness")}>
            <LinkWords of={t("Open readiness")} />
          </Link>
        ) : (
          <Link to="/settings/$section" params={{ section }} aria-label={t("Open settings")}>
            <LinkWords of={t("Open settings")} />
          </Link>
        )
      }
    >
      {translateServerText(first?.message ?? "")}
      {problems.length > 1 &&
        ` ${tCount(problems.length - 1, "And {count} more problem.", "And {count} more problems.")}`}
    </Banner>
  );
}

function Banner({
  kind,
  keys,
  title,
  action,
  children,
}: {
  kind: string;
  /** Identifies the subject. The banner stays hidden while this is unchanged. */
  keys: readonly string[];
  title: ReactNode;
  action: ReactNode;
  children: ReactNode;
}) {
  const { organization } = useSignedInPerson();
  const start = `${kind} ${organization.id}`;
  const name = `${start} ${keys.toSorted().join()}`;
  const hidden = hiddenItems.use();
  useEffect(() => hiddenItems.forget(start, name), [start, name]);
  if (keys.length === 0 || hidden.has(name)) return null;
  return (
    <div className="problem-banner" role="status">
      <StateIcon state="degraded" />
      <span>
        <b>{title}</b> {children}
      </span>
      {action}
      <ActionIcon aria-label={t("Hide")} size={24} onClick={() => hiddenItems.add(name)}>
        <Icon name="close" size={14} />
      </ActionIcon>
    </div>
  );
}
