/* simbody_tree.cpp — integration by Simbody. */
#include "tests/simbody/simbody_tree.h"

#include <Simbody.h>

#include <cstdio>
#include <vector>

using namespace SimTK;

namespace {

Vec3 vector_of(const double x[3]) {
    return Vec3(x[0], x[1], x[2]);
}

void take(const Vec3 &from, double to[3]) {
    for (int i = 0; i < 3; i++) to[i] = from[i];
}

Rotation rotation_of(const double e[4]) {
    return Rotation(Quaternion(Vec4(e[0], e[1], e[2], e[3])));
}

struct Tree {
    MultibodySystem system;
    SimbodyMatterSubsystem matter;
    GeneralForceSubsystem forces;
    std::vector<MobilizedBody> bodies;

    explicit Tree(const ne_system &s) : matter(system), forces(system) {
        system.setUseUniformBackground(true);
        Force::Gravity(forces, matter, vector_of(s.gravity));
        for (size_t k = 0; k < s.body_count; k++) add(s, k);
        for (size_t k = 0; k < s.spring_count; k++) {
            const ne_spring &spring = s.springs[k];
            MobilizedBody a = mobilized(spring.a.body), b = mobilized(spring.b.body);
            Force::TwoPointLinearSpring(forces, a, vector_of(spring.a.at), b, vector_of(spring.b.at), spring.stiffness,
                                        spring.length);
            Force::TwoPointLinearDamper(forces, a, vector_of(spring.a.at), b, vector_of(spring.b.at), spring.damping);
        }
    }

    MobilizedBody mobilized(int body) {
        return body < 0 ? static_cast<MobilizedBody>(matter.updGround()) : bodies[static_cast<size_t>(body)];
    }

    void add(const ne_system &s, size_t k) {
        const ne_body &b = s.bodies[k];
        const ne_joint &j = s.joints[k];
        Body::Rigid body(MassProperties(b.mass, Vec3(0), Inertia(b.inertia[0], b.inertia[1], b.inertia[2])));
        MobilizedBody parent = mobilized(j.a.body);
        Transform on(vector_of(j.a.at)), at(vector_of(j.b.at));
        if (j.kind == NE_REVOLUTE)
            bodies.push_back(MobilizedBody::Pin(parent, on, body, at));
        else
            bodies.push_back(MobilizedBody::Ball(parent, on, body, at));
    }

    State start(const ne_system &s) {
        State state = system.realizeTopology();
        for (size_t k = 0; k < s.body_count; k++) {
            int parent = s.joints[k].a.body;
            Rotation before = parent < 0 ? Rotation() : rotation_of(s.bodies[parent].e);
            bodies[k].setQToFitRotation(state, ~before * rotation_of(s.bodies[k].e));
        }
        system.realize(state, Stage::Position);
        for (size_t k = 0; k < s.body_count; k++) {
            int parent = s.joints[k].a.body;
            Vec3 w = vector_of(s.bodies[k].w);
            Rotation before = parent < 0 ? Rotation() : rotation_of(s.bodies[parent].e);
            if (parent >= 0) w -= vector_of(s.bodies[parent].w);
            bodies[k].setUToFitAngularVelocity(state, ~before * w);
        }
        system.realize(state, Stage::Velocity);
        return state;
    }

    void read(const State &state, double t, ne_system &s) {
        system.realize(state, Stage::Velocity);
        s.t = t;
        for (size_t k = 0; k < s.body_count; k++) {
            take(bodies[k].getBodyOriginLocation(state), s.bodies[k].r);
            take(bodies[k].getBodyOriginVelocity(state), s.bodies[k].v);
            take(bodies[k].getBodyAngularVelocity(state), s.bodies[k].w);
        }
    }
};

} // namespace

bool simbody_advance(const ne_system *s, const double *times, size_t count, double accuracy, ne_system *states) {
    try {
        Tree tree(*s);
        State start = tree.start(*s);
        RungeKuttaFeldbergIntegrator integrator(tree.system);
        integrator.setAccuracy(accuracy);
        integrator.setAllowInterpolation(false);
        integrator.setInternalStepLimit(1000000);
        integrator.initialize(start);
        for (size_t k = 0; k < count; k++) {
            while (integrator.getTime() < times[k]) integrator.stepTo(times[k]);
            states[k] = *s;
            tree.read(integrator.getState(), times[k], states[k]);
        }
        return true;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "simbody: %s\n", e.what());
        return false;
    }
}
