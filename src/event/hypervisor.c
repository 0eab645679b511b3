#include "event/hypervisor.h"
#include "base/fs.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

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

/* Signatures that CPUID returns in a guest. */
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

/* Facts that identify the hypervisor; strings are "" when unknown. */
struct question {
	const struct roots *roots;
	char release[128], arch[65], product[HYPERVISOR_PRODUCT_SIZE];
};

static bool has_hypervisor_flag(const struct question *q)
{
	char text[16384], *flags;

	if (!fs_head(text, sizeof(text), "%s/cpuinfo", q->roots->proc))
		return false;
	flags = strstr(text, "\nflags");
	if (!flags)
		return false;
	flags[1 + strcspn(flags + 1, "\n")] = '\0';
	return strstr(flags, " hypervisor") != NULL;
}

static const struct dmi_rule *from_dmi(struct question *q)
{
	char vendor[64] = "", product[80] = "";

	fs_line(vendor, sizeof(vendor), "%s/class/dmi/id/sys_vendor", q->roots->sys);
	fs_line(product, sizeof(product), "%s/class/dmi/id/product_name", q->roots->sys);
	if (!strncmp(product, vendor, strlen(vendor)))
		snprintf(q->product, sizeof(q->product), "%s", product);
	else
		snprintf(q->product, sizeof(q->product), "%s %s", vendor, product);
	for (size_t i = 0; i < ARRAY_LEN(dmi_rules); i++) {
		const struct dmi_rule *r = &dmi_rules[i];

		if ((!r->vendor || !strncmp(vendor, r->vendor, strlen(r->vendor))) &&
		    (!r->product || !strncmp(product, r->product, strlen(r->product))))
			return r;
	}
	return NULL;
}

static const struct hypervisor *from_clock(const struct question *q)
{
	char line[256];

	if (!fs_line(line, sizeof(line),
		     "%s/devices/system/clocksource/clocksource0/available_clocksource",
		     q->roots->sys))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(clocks); i++)
		if (strstr(line, clocks[i].name))
			return clocks[i].hypervisor;
	return NULL;
}

/* Machines without the CPUID flag: look at Xen's file, the device tree and s390's sysinfo. */
static const struct hypervisor *from_firmware(const struct question *q)
{
	char text[4096];

	if (fs_line(text, sizeof(text), "%s/hypervisor/type", q->roots->sys) &&
	    !strcmp(text, "xen"))
		return &xen;
	if (fs_line(text, sizeof(text), "%s/firmware/devicetree/base/hypervisor/compatible",
		    q->roots->sys))
		return strstr(text, "kvm") ? &kvm : strstr(text, "vmware") ? &vmware : &unnamed;
	if (fs_line(text, sizeof(text), "%s/firmware/devicetree/base/model", q->roots->sys) &&
	    !strcmp(text, "linux,dummy-virt"))
		return &virt_board;
	if (fs_head(text, sizeof(text), "%s/sysinfo", q->roots->proc) &&
	    strstr(text, "Control Program:"))
		return &zvm;
	return NULL;
}

static const struct hypervisor *find(struct question *q)
{
	const struct dmi_rule *dmi = from_dmi(q);
	bool flag = has_hypervisor_flag(q), metal = strstr(q->product, "metal") != NULL;
	const struct hypervisor *found = NULL;

	if (strcasestr(q->release, "microsoft-standard"))
		found = &wsl;
	else if (dmi && !metal && (flag || dmi->is_guest || !strcmp(q->arch, "aarch64")))
		found = dmi->hypervisor;
	if (!found && flag && !q->roots->foreign)
		found = from_signature();
	if (!found)
		found = from_firmware(q);
	/* Xen's Dom0 and Hyper-V's root have these clocks too, but they are guests as well. */
	if (!found && (flag || !dmi))
		found = from_clock(q);
	if (!found && flag)
		found = &unnamed;
	return found;
}

const struct hypervisor *hypervisor_find(const struct roots *roots,
					 char product[HYPERVISOR_PRODUCT_SIZE])
{
	struct question q = {.roots = roots};
	const struct hypervisor *found;
	struct utsname u;

	fs_line(q.release, sizeof(q.release), "%s/sys/kernel/osrelease", roots->proc);
	fs_line(q.arch, sizeof(q.arch), "%s/sys/kernel/arch", roots->proc);
	if (!roots->foreign && !uname(&u)) {
		snprintf(q.release, sizeof(q.release), "%s", u.release);
		snprintf(q.arch, sizeof(q.arch), "%s", u.machine);
	}
	found = find(&q);
	if (product)
		memcpy(product, q.product, sizeof(q.product));
	return found;
}

void hypervisor_no_pmu(const struct hypervisor *h, struct buf *out)
{
	if (h)
		buf_addf(out, "this virtual machine has no PMU (it is a guest of %s)", h->name);
	else
		buf_add(out, "this machine has no PMU that the kernel knows");
}
