import { SignInForm } from "../../shell/sign-in-form.tsx";
import { EntranceFrame } from "./entrance-frame.tsx";

export function SignInPage() {
  return (
    <EntranceFrame title="Sign in" words="To the admin page of this Signalbox.">
      <SignInForm />
    </EntranceFrame>
  );
}
