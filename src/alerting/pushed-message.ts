/** A message for the service worker of the admin page. Paths are relative to this appliance. */
export type PushedMessage = {
  title: string;
  text: string;
  path: string;
  /** Identifies the alert: a later notification with the same tag replaces an earlier one. */
  tag: string;
  /** Whether the problem is over. */
  isOver: boolean;
  /** Whether the notification stays until the person reacts. */
  isUrgent: boolean;
  /** Path that acknowledges the alert by POST; null for none. */
  acknowledgePath: string | null;
  /** Set for a verification code. The service worker sends it back. */
  verification: Verification | null;
};

/** The contact method that a code verifies. */
export type Verification = { organizationId: string; contactMethodId: string; code: string };
