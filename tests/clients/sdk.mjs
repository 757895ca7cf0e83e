// The same flow with @azure/arm-compute: node sdk.mjs MODULES BASE SUBSCRIPTION
import { createRequire } from "node:module";
import assert from "node:assert/strict";

const [modules, base, subscription] = process.argv.slice(2);
const require = createRequire(`${modules}/index.js`);
const { ClientSecretCredential } = require("@azure/identity");
const { ComputeManagementClient } = require("@azure/arm-compute");
const { ResourceManagementClient } = require("@azure/arm-resources");

const env = process.env;
const credential = new ClientSecretCredential(
  env.AZURE_TENANT_ID, env.AZURE_CLIENT_ID, env.AZURE_CLIENT_SECRET,
  { authorityHost: env.AZURE_AUTHORITY_HOST, disableInstanceDiscovery: true });
const there = { endpoint: base, credentialScopes: [`${base}/.default`] };
const groups = new ResourceManagementClient(credential, subscription, there).resourceGroups;
const compute = new ComputeManagementClient(credential, subscription, there);
const sets = compute.virtualMachineScaleSets;
const machines = compute.virtualMachineScaleSetVMs;

const start = async (name, ...given) => {
  // Older packages call it beginXAndWait, newer ones give a poller that can be awaited.
  const old = `begin${name[0].toUpperCase()}${name.slice(1)}AndWait`;
  return old in sets ? sets[old](...given) : sets[name](...given);
};
const ids = async () => {
  const found = [];
  for await (const one of machines.list("noderg", "n1")) found.push(one.instanceId);
  return found;
};

await groups.createOrUpdate("noderg", { location: "westus" });
const made = await start("createOrUpdate", "noderg", "n1", {
  location: "westus",
  sku: { name: "Standard_D2s_v5", capacity: 2 },
  orchestrationMode: "Uniform",
  upgradePolicy: { mode: "Manual" },
  virtualMachineProfile: {
    scheduledEventsProfile: {
      terminateNotificationProfile: { enable: true, notBeforeTimeout: "PT9M" },
    },
  },
});
const profile = made.virtualMachineProfile.scheduledEventsProfile;
assert.equal(profile.terminateNotificationProfile.notBeforeTimeout, "PT9M");
assert.equal(made.provisioningState, "Succeeded");
assert.deepEqual(await ids(), ["0", "1"]);
await start("restart", "noderg", "n1");
await start("deleteInstances", "noderg", "n1", { instanceIds: ["0"] });
assert.deepEqual(await ids(), ["1"]);
await assert.rejects(sets.get("noderg", "none"), { code: "ResourceNotFound", statusCode: 404 });
await start("delete", "noderg", "n1");
console.log("done");
