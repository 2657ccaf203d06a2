/** Prefix of stored drafts. Another person who signs in in this tab must not see them. */
let draftOwner = "";

export function setDraftOwner(personId: string, organizationId: string) {
  draftOwner = `${personId} ${organizationId}`;
}

const buildStorageKey = (key: string) => `signalbox.draft ${draftOwner} ${key}`;

export type DraftValues = Record<string, unknown>;

/** Unsaved form values in the tab's session storage. They survive a reload and an ended session. */
export const drafts = {
  read(key: string): DraftValues | undefined {
    const text = sessionStorage.getItem(buildStorageKey(key));
    return text === null ? undefined : (JSON.parse(text) as DraftValues);
  },
  /** Stores a draft, or removes it if it is empty. */
  write(key: string, values: DraftValues) {
    if (Object.keys(values).length === 0) sessionStorage.removeItem(buildStorageKey(key));
    else sessionStorage.setItem(buildStorageKey(key), JSON.stringify(values));
  },
};
