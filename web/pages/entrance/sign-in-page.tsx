import { SignInForm } from "../../shell/sign-in-form.tsx";
import { EntranceFrame } from "./entrance-frame.tsx";

export function SignInPage() {
  return (
    <EntranceFrame title="Sign in" words="Use your e-mail address and password.">
      <SignInForm />
    </EntranceFrame>
  );
}
