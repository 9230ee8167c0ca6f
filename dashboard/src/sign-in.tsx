import { setToken } from "./api.js";

/** Shown to a page that has no token: it was opened without the code that the terminal prints. */
export function SignIn() {
  const take = (event: SubmitEvent) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget as HTMLFormElement).get("token");
    if (typeof token !== "string" || token.trim() === "") return;
    setToken(token.trim());
    location.reload();
  };
  return (
    <main class="sign-in">
      <h1>
        <img src="./icon.svg" alt="" width={28} height={28} /> Headwater
      </h1>
      <p>
        Open the address that the program has printed (each is good once; <kbd>o</kbd> in{" "}
        <code>headwater dev</code> opens a new one), or paste the token from{" "}
        <code>HEADWATER_DASHBOARD_TOKEN</code>.
      </p>
      <form onSubmit={take}>
        <label for="token">Token</label>
        <input id="token" name="token" type="password" autocomplete="off" />
        <button type="submit">Sign in</button>
      </form>
    </main>
  );
}
