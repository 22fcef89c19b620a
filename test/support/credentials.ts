// Environment variables of an OpenCode process that hold credentials or lead to them.

/** Part of every value that no child process may get. */
export const PLANTED = "planted-and-not-to-be-found"

export const CREDENTIALS = [
  ..."ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY GOOGLE_API_KEY GROQ_API_KEY MISTRAL_API_KEY XAI_API_KEY".split(
    " ",
  ),
  ..."NVIDIA_API_KEY NVIDIA_NGC_TOKEN NVIDIA_PASSWORD HIP_SECRET CUDA_AUTH_TOKEN GGML_API_KEY VK_TOKEN".split(" "),
  ..."VK_ACCESS_TOKEN VK_CLIENT_SECRET MESA_CREDENTIALS ROCR_PASSWD HSA_KEY __NV_AUTH LC_GITHUB_TOKEN".split(" "),
  ..."LC_PASSWORD LC_SECRET nvidia_api_key AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN".split(" "),
  ..."AWS_BEARER_TOKEN_BEDROCK AZURE_CLIENT_SECRET GOOGLE_APPLICATION_CREDENTIALS GITHUB_TOKEN GH_TOKEN".split(" "),
  ..."GITLAB_TOKEN HF_TOKEN HUGGING_FACE_HUB_TOKEN NPM_TOKEN DATABASE_URL REDIS_URL MONGO_URI PGPASSWORD".split(" "),
  ..."MYSQL_PWD SENTRY_DSN STRIPE_SECRET_KEY SLACK_BOT_TOKEN TWILIO_AUTH_TOKEN SSH_AUTH_SOCK".split(" "),
  ..."GIT_ASKPASS SSH_ASKPASS VAULT_TOKEN DOCKER_AUTH_CONFIG COOKIE SESSION_SECRET MY_PAT".split(" "),
  ..."OPENCODE_CONFIG_CONTENT OPENCODE_SERVER_PASSWORD OPENCODE_API_KEY CARGO_REGISTRY_TOKEN SECRET".split(" "),
]
/** Variables that make a program load foreign code. */
export const LOADERS = [
  ..."NODE_OPTIONS NODE_PATH BUN_OPTIONS BUN_INSTALL LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES".split(" "),
  ..."NODE_EXTRA_CA_CERTS NODE_LLAMA_CPP_GPU BASH_ENV ENV PYTHONPATH".split(" "),
]
export const NETWORK = [
  ..."HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy".split(" "),
  ..."npm_config_registry npm_config__auth NPM_CONFIG_USERCONFIG BUN_CONFIG_TOKEN".split(" "),
]

export function polluted(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `${PLANTED}-${name}`]))
}
