/* Virtual machine or not, and whose: that decides how one gets a hardware PMU. */
#include "doctor/doctor.h"
#include "base/fs.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define KVM_ADVICE                                                                                 \
	"on the host, start the guest with qemu -cpu host,pmu=on (libvirt: <pmu state='on'/> in "  \
	"<features>); Firecracker has no PMU for guests; at a cloud provider, take a bare-metal "  \
	"type"

static const struct hypervisor kvm = {"KVM", KVM_ADVICE};
static const struct hypervisor virt_board = {"QEMU or KVM", KVM_ADVICE};
static const struct hypervisor ec2 = {
	"Amazon EC2",
	"take a .metal instance type or the largest size of the family: only a guest that has a "
	"whole processor to itself gets all of its counters",
};
static const struct hypervisor gce = {
	"Google Compute Engine",
	"set performanceMonitoringUnit=STANDARD in the instance's advancedMachineFeatures, on a "
	"machine series that has it (C4 and later), or take a bare-metal type",
};
static const struct hypervisor hyperv = {
	"Hyper-V",
	"on the host, with the guest off: Set-VMProcessor NAME -Perfmon @('pmu','lbr','pebs'); on "
	"Azure there is no such switch",
};
static const struct hypervisor wsl = {
	"WSL 2",
	"set hardwarePerformanceCounters=true under [wsl2] in %UserProfile%\\.wslconfig, then "
	"wsl --shutdown",
};
static const struct hypervisor vmware = {
	"VMware",
	"with the guest off, switch on 'Virtualize CPU performance counters' (vpmc.enable = "
	"\"TRUE\" "
	"in the .vmx file)",
};
static const struct hypervisor xen = {
	"Xen",
	"boot the hypervisor with vpmu=on (its own command line, not that of Linux)",
};
static const struct hypervisor virtualbox = {
	"VirtualBox",
	"VirtualBox has no PMU for guests: measure on the host or under KVM",
};
static const struct hypervisor parallels = {
	"Parallels",
	"with the guest off, switch on 'Enable PMU virtualization' in the advanced CPU settings",
};
static const struct hypervisor apple = {
	"Apple Virtualization",
	"macOS has no PMU for guests: measure on a Linux machine",
};
static const struct hypervisor zvm = {
	"z/VM or KVM on s390",
	"authorize the CPU-measurement counter facility in the activation profile of the LPAR",
};
static const struct hypervisor unnamed = {
	"an unknown hypervisor",
	"ask whoever runs the host to pass the PMU on, or measure on the bare machine",
};

/* Vendor and product as the firmware gives them; @is_guest: the text alone proves a guest. */
struct dmi_rule {
	const char *vendor, *product;
	bool is_guest;
	const struct hypervisor *hypervisor;
};

static const struct dmi_rule dmi_rules[] = {
	{"Amazon EC2", NULL, false, &ec2},
	{"Google", "Google Compute Engine", false, &gce},
	{"Microsoft Corporation", "Virtual Machine", true, &hyperv},
	{"VMware", NULL, true, &vmware},
	{"innotek", "VirtualBox", true, &virtualbox},
	{"Parallels", NULL, true, &parallels},
	{"Apple Inc.", "Apple Virtualization", true, &apple},
	{"Xen", NULL, true, &xen},
	{"QEMU", NULL, true, &kvm},
	{NULL, "KVM", true, &kvm},
};

struct name_rule {
	const char *name;
	const struct hypervisor *hypervisor;
};

/* Clocks that only a guest has. */
static const struct name_rule clocks[] = {
	{"kvm-clock", &kvm},
	{"hyperv_clocksource", &hyperv},
	{"xen", &xen},
};

#if defined(__x86_64__) || defined(__i386__)
static const struct hypervisor qemu = {
	"QEMU",
	"run the guest with KVM (qemu -accel kvm -cpu host,pmu=on); emulated x86 CPUs have no PMU",
};

/* What CPUID tells a guest. */
static const struct name_rule signatures[] = {
	{"KVMKVMKVM", &kvm},        {"TCGTCGTCGTCG", &qemu},     {"Microsoft Hv", &hyperv},
	{"VMwareVMware", &vmware},  {"XenVMMXenVMM", &xen},      {"VBoxVBoxVBox", &virtualbox},
	{"prl hyperv", &parallels}, {" lrpepyh vr", &parallels},
};

static const struct hypervisor *from_signature(void)
{
	unsigned eax, id[4] = {};

	__cpuid(0x40000000, eax, id[0], id[1], id[2]);
	for (size_t i = 0; eax && i < ARRAY_LEN(signatures); i++)
		if (!strncmp((const char *)id, signatures[i].name, strlen(signatures[i].name)))
			return signatures[i].hypervisor;
	return NULL;
}
#else
static const struct hypervisor *from_signature(void)
{
	return NULL;
}
#endif

static bool has_hypervisor_flag(const struct doctor *d)
{
	char text[16384], *flags;

	if (!doctor_head(text, sizeof(text), "%s/cpuinfo", d->roots.proc))
		return false;
	flags = strstr(text, "\nflags");
	if (!flags)
		return false;
	flags[1 + strcspn(flags + 1, "\n")] = '\0';
	return strstr(flags, " hypervisor") != NULL;
}

static const struct dmi_rule *from_dmi(struct doctor *d)
{
	char vendor[64] = "", product[80] = "";

	fs_line(vendor, sizeof(vendor), "%s/class/dmi/id/sys_vendor", d->roots.sys);
	fs_line(product, sizeof(product), "%s/class/dmi/id/product_name", d->roots.sys);
	if (!strncmp(product, vendor, strlen(vendor)))
		snprintf(d->product, sizeof(d->product), "%s", product);
	else
		snprintf(d->product, sizeof(d->product), "%s %s", vendor, product);
	for (size_t i = 0; i < ARRAY_LEN(dmi_rules); i++) {
		const struct dmi_rule *r = &dmi_rules[i];

		if ((!r->vendor || !strncmp(vendor, r->vendor, strlen(r->vendor))) &&
		    (!r->product || !strncmp(product, r->product, strlen(r->product))))
			return r;
	}
	return NULL;
}

static const struct hypervisor *from_clock(const struct doctor *d)
{
	char line[256];

	if (!fs_line(line, sizeof(line),
		     "%s/devices/system/clocksource/clocksource0/available_clocksource",
		     d->roots.sys))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(clocks); i++)
		if (strstr(line, clocks[i].name))
			return clocks[i].hypervisor;
	return NULL;
}

/* Where there is no CPUID flag, firmware has it: device tree, Xen's own file, s390's sysinfo. */
static const struct hypervisor *from_firmware(const struct doctor *d)
{
	char text[4096];

	if (fs_line(text, sizeof(text), "%s/hypervisor/type", d->roots.sys) && !strcmp(text, "xen"))
		return &xen;
	if (fs_line(text, sizeof(text), "%s/firmware/devicetree/base/hypervisor/compatible",
		    d->roots.sys))
		return strstr(text, "kvm") ? &kvm : strstr(text, "vmware") ? &vmware : &unnamed;
	if (fs_line(text, sizeof(text), "%s/firmware/devicetree/base/model", d->roots.sys) &&
	    !strcmp(text, "linux,dummy-virt"))
		return &virt_board;
	if (doctor_head(text, sizeof(text), "%s/sysinfo", d->roots.proc) &&
	    strstr(text, "Control Program:"))
		return &zvm;
	return NULL;
}

void doctor_find_hypervisor(struct doctor *d)
{
	const struct dmi_rule *dmi = from_dmi(d);
	bool flag = has_hypervisor_flag(d), metal = strstr(d->product, "metal") != NULL;
	const struct hypervisor *found = NULL;

	if (strcasestr(d->release, "microsoft-standard"))
		found = &wsl;
	else if (dmi && !metal && (flag || dmi->is_guest || !strcmp(d->arch, "aarch64")))
		found = dmi->hypervisor;
	if (!found && flag && !d->roots.foreign)
		found = from_signature();
	if (!found)
		found = from_firmware(d);
	/* Xen's Dom0 and Hyper-V's root have these clocks too, but they are guests as well. */
	if (!found && (flag || !dmi))
		found = from_clock(d);
	if (!found && flag)
		found = &unnamed;
	d->hypervisor = found;
}

/* Numbers of the first namespaces are fixed; a container has at least one of its own. */
static bool own_namespace(const char *kind, unsigned long first)
{
	char link[64], target[64], expected[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/ns/%s", kind);
	snprintf(expected, sizeof(expected), "%s:[%lu]", kind, first);
	n = readlink(link, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	return strcmp(target, expected) != 0;
}

void doctor_find_container(struct doctor *d)
{
	const char *kind = "container";
	char line[32];

	if (d->roots.foreign ||
	    (!own_namespace("pid", 4026531836) && !own_namespace("cgroup", 4026531835)))
		return;
	if (getenv("KUBERNETES_SERVICE_HOST"))
		kind = "Kubernetes";
	else if (fs_exists("/run/.containerenv"))
		kind = "Podman";
	else if (fs_exists("/.dockerenv"))
		kind = "Docker";
	else if (fs_line(line, sizeof(line), "/run/systemd/container") && line[0])
		kind = line;
	snprintf(d->container, sizeof(d->container), "%s", kind);
}
