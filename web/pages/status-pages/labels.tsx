import type { StatusPage } from "../../data/status-pages.ts";
import type { IconName } from "../../components/display/icons.tsx";

type Visibility = StatusPage["visibility"];

/** Labels of the visibility of a status page, for the list and the editor. */
export const visibilities: Record<Visibility, { label: string; hint: string; icon: IconName }> = {
  public: { label: "Public", hint: "Anyone with the address can see it.", icon: "page" },
  password: { label: "With a password", hint: "Visitors enter it once in 30 days.", icon: "lock" },
  "signed-in": {
    label: "Signed-in people",
    hint: "Members of the organization sign in to see it.",
    icon: "people",
  },
  addresses: {
    label: "Chosen addresses",
    hint: "Only clients in these networks can see it.",
    icon: "lock",
  },
  hidden: { label: "Hidden", hint: "No one can see it.", icon: "hidden" },
};

export const buildPageUrl = ({ slug }: Pick<StatusPage, "slug">): string =>
  `${location.origin}/status/${slug}`;

/** A URL without its scheme. */
export const omitScheme = (address: string): string => address.replace(/^https?:\/\//, "");
